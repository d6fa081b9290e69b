"""What code does is recognised where it shows; nothing found is no promise."""

import threading
from pathlib import Path
from typing import get_args

import pytest

from oi_tui.engine.review.earlier_code import EarlierCode
from oi_tui.engine.review.findings import WORDS, Finding, Findings, Kind, shorten_part
from oi_tui.engine.review.permissions import Permission, Permissions, list_offers
from oi_tui.engine.review.scanner import scan_code

HERE = Path("/home/ada/sales")


@pytest.mark.parametrize("name", ["~a\0b", "~a\ud800b", "~" + "a" * 5_000, "~nobody-of-this-name/a"])
def test_a_name_that_no_user_can_have_is_scanned(name: str) -> None:
    for language, code in (
        ("python", f"open({name!r}, 'w')"),
        ("shell", f"echo > {name}"),
        ("javascript", f"fs.writeFileSync('{name}', 1)"),
    ):
        assert scan_code(language, code, HERE).sentences


def scan_kinds(language: str, code: str) -> set[tuple[str, str]]:
    return {(item.kind, item.what) for item in scan_code(language, code, HERE).found}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import os\nos.remove('a')", ("deletes", "a")),
        ("import os as o\no.unlink('a')", ("deletes", "a")),
        ("from shutil import rmtree as r\nr('/x')", ("deletes", "/x")),
        ("from pathlib import Path\nPath('a').unlink()", ("deletes", "a")),
        ("def later():\n    gone.rmdir()", ("deletes", "")),
        ("import subprocess\nsubprocess.run(['rm', '-rf', 'a'])", ("deletes", "a")),
        ("import os\nos.system('rm a')", ("deletes", "a")),
        ("!rm a", ("deletes", "a")),
        ("%%bash\nrm a", ("deletes", "a")),
        ("import requests\nrequests.get(u)", ("network", "")),
        ("import pandas as pd\npd.read_csv('https://a.example/x.csv')", ("network", "a.example")),
        ("x = 'https://me:pw@a.example:80/x'", ("network", "a.example")),
        ("import subprocess as s\ns.run('sudo ls', shell=True)", ("rights", "sudo")),
        ("import subprocess\nsubprocess.Popen(['git', 'status'])", ("programs", "git")),
        ("open('a.csv', 'w')", ("writes", "a.csv")),
        ("open(name, mode='ab')", ("writes", "")),
        ("open('/etc/hosts', 'w')", ("writes outside", "/etc/hosts")),
        ("open('../b', 'x')", ("writes outside", "../b")),
        ("from pathlib import Path\nPath('~/x').expanduser().write_text('')", ("writes outside", "~/x")),
        ("from pathlib import Path\nPath('/tmp/x').write_text('')", ("writes outside", "/tmp/x")),
        ("from pathlib import Path\nPath('x').open('w')", ("writes", "x")),
        ("df.to_csv('out/a.csv')", ("writes", "out/a.csv")),
        ("plt.savefig('/home/ada/sales/a.png')", ("writes", "/home/ada/sales/a.png")),
        ("import shutil\nshutil.copy('a', '/b')", ("writes outside", "/b")),
        ("eval('1')", ("runs text", "")),
        ("__import__('os')", ("runs text", "")),
        ("import os\nos.kill(1, 9)", ("processes", "")),
        ("import os\nos.execv('a', [])", ("programs", "a")),
        ("open('/home/ada/.ssh/id_rsa').read()", ("secrets", ".ssh")),
        ("!pip install x", ("installs", "pip")),
        ("%pip install x", ("installs", "pip")),
        ("!echo {os.remove('a')}", ("deletes", "a")),
        ("import os as o\nif 1:\n    x = !ls ${o.remove('a')!r:>9}", ("deletes", "a")),
        ("!awk '{print $1}' {open('a', 'w').name}", ("writes", "a")),
        ("%cd {shutil.rmtree('a')}", ("deletes", "a")),
        ("ls {os.unlink('a')}", ("deletes", "a")),
        ("%%bash -s {requests.get(u)}\nls", ("network", "")),
        ("%%writefile {os.system('rm a')}\nx", ("deletes", "a")),
        ("%%script perl {os.remove('a')}\n1", ("deletes", "a")),
        ("%%mine {os.remove('a')}\nx = 1", ("deletes", "a")),
        ("%system rm a", ("deletes", "a")),
        ("%sx rm a", ("deletes", "a")),
        ("x = 1\n!rm a", ("deletes", "a")),
        ("%matplotlib inline\n!rm a", ("deletes", "a")),
        ("y = !git status", ("programs", "git")),
        ("!!rm a", ("deletes", "a")),
        ("%rm a", ("deletes", "a")),
        ("%mv a /b", ("writes outside", "/b")),
        ("%cd /; rm a", ("deletes", "a")),
        ("ls b; rm a", ("deletes", "a")),
        ("x = 5\n!ls\nless -os.remove('a')", ("deletes", "a")),
        ("%alias zap rm -rf a", ("deletes", "a")),
        ("%sc x=rm a", ("deletes", "a")),
        ("%sql drop table a", ("deletes", "table a")),
        ("%run a.py", ("runs text", "a.py")),
        ("%load_ext a", ("runs text", "a")),
        ("%load -r 1-5 http://example.org/a.py", ("network", "example.org")),
        ("%load ~/.ssh/id_rsa", ("secrets", ".ssh")),
        ("%save -f ~/.profile 1", ("writes outside", "~/.profile")),
        ("%snapshot save a", ("writes", "a")),
        ("%store a", ("writes", "a")),
        ("%store a > b.txt", ("writes", "b.txt")),
        ("%store -r a", ("runs text", "-r a")),
        ("%store -z", ("deletes", "-z")),
        ("%snapshot load a", ("runs text", "a")),
        ("%%writefile -a ~/.bashrc\nx", ("writes outside", "~/.bashrc")),
        ("%%file 'a b'\nx", ("writes", "a b")),
        ("%%sql\ndrop table a", ("deletes", "table a")),
        ("%%system\nrm a", ("deletes", "a")),
        ("%%!\nrm a", ("deletes", "a")),
        ("%%perl\nunlink 'a'", ("programs", "perl")),
        ("%%python3\nimport os\nos.remove('a')", ("programs", "python3")),
        ("%%script rm -rf\nx", ("programs", "rm")),
        ("%%capture out\n%rm a", ("deletes", "a")),
        ("%%sh -x\nrm a", ("deletes", "a")),
        ("%%script bash\nrm a", ("deletes", "a")),
        ("%%time\nimport os\nos.remove('a')", ("deletes", "a")),
        ("import urllib.request as u\nu.urlopen(x)", ("network", "")),
        ("import urllib.request\nurllib.request.urlopen(x)", ("network", "")),
        ("import numpy as np\nnp.save('a.npy', x)", ("writes", "a.npy")),
        ("import shutil\nshutil.copy('a')", ("writes", "")),
        ("df.to_csv(path_or_buf='a')", ("writes", "a")),
        ("df.to_csv(name)", ("writes", "")),
        ("open('a', 'rb+', 1)", ("writes", "a")),
        ("open('a', mode='wb+')", ("writes", "a")),
        ("from pathlib import Path\nPath('x').open('a', 1)", ("writes", "x")),
        ("import subprocess\nsubprocess.run(['rm', 'my file'])", ("deletes", "my file")),
        ("import subprocess\nsubprocess.run(('rm', \"it's\"))", ("deletes", "it's")),
        (f"x = '{'x' * 20_000} https://a.example/'", ("network", "a.example")),
        ("open('/dev/null', 'w')\nopen('b', 'w')", ("writes", "b")),
        ("open('/dev/ttyS0', 'w')", ("writes outside", "/dev/ttyS0")),
        ("open('/dev/nullify', 'w')", ("writes outside", "/dev/nullify")),
    ],
)
def test_python_is_read(code: str, expected: tuple[str, str]) -> None:
    assert expected in scan_kinds("python", code)


@pytest.mark.parametrize(
    "code",
    [
        "print(1)",
        "open('a')",
        "open('a', 'rb')",
        "df.to_csv()",
        "'a'.replace('a', 'b')",
        "# os.remove('a')",
        "import os\nos.getcwd()",
        "import subprocess\nsubprocess.PIPE",
        "text = 'rm -rf /'",
        "import sp.tools\nsp.run(['ls'])",
        "df.to_csv(index=False)",
        "df.to_csv(**options)",
        "import subprocess\nsubprocess.list2cmdline(['rm', 'a'])",
        "archive.open('wax.png')",
        "open('/dev/fd/3', 'w')",
        "open('/dev/null', 'w')",
    ],
)
def test_harmless_python_is_left_alone(code: str) -> None:
    assert scan_code("python", code, HERE).found == ()


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("rm -rf old", ("deletes", "old")),
        ("watch -n 5 rm a", ("deletes", "a")),
        ("busybox rm a", ("deletes", "a")),
        ("parallel rm ::: a", ("deletes", "a")),
        ("script -c 'rm a' log", ("deletes", "a")),
        ("trap 'rm a' EXIT", ("deletes", "a")),
        ("alias ls='rm a'", ("deletes", "a")),
        ("ssh gpu1 'rm a'", ("deletes", "a")),
        ("perl -e 'unlink @ARGV' a", ("runs text", "perl -e")),
        ("docker system prune -af", ("deletes", "docker prune")),
        ("kubectl -n web delete pod a", ("deletes", "kubectl delete")),
        ("aws ec2 terminate-instances --instance-ids i-1", ("deletes", "aws terminate-instances")),
        ("terraform destroy -auto-approve", ("deletes", "terraform destroy")),
        ("redis-cli FLUSHALL", ("deletes", "redis-cli FLUSHALL")),
        ("psql -c 'drop table a' shop", ("deletes", "table a")),
        ("sqlite3 a.db 'delete from t'", ("deletes", "from t")),
        ("git checkout .", ("deletes", "git checkout")),
        ("git restore a", ("deletes", "git restore")),
        ("git stash drop", ("deletes", "git stash")),
        ("git branch -D a", ("deletes", "git branch")),
        ("git push --force", ("deletes", "git push")),
        ("tar xzf a.tgz", ("writes", "")),
        ("tar --extract -f a.tar", ("writes", "")),
        ("unzip a.zip", ("writes", "")),
        ("ls && rm a", ("deletes", "a")),
        ("for f in *; do rm $f; done", ("deletes", "$f")),
        ("if true; then rm a; fi", ("deletes", "a")),
        ("A=1 env B=2 rm a", ("deletes", "a")),
        ("sudo -u root rm a", ("deletes", "a")),
        ("sudo -u root rm a", ("rights", "sudo")),
        ("/bin/rm a", ("deletes", "a")),
        ("echo $(rm a)", ("deletes", "a")),
        ("echo `rm a`", ("deletes", "a")),
        ("bash -c 'rm a'", ("deletes", "a")),
        ("ls \\\n  | xargs rm a", ("deletes", "a")),
        ("find . -delete", ("deletes", "")),
        ("find . -exec rm {} \\;", ("deletes", "")),
        ("git clean -fd", ("deletes", "git clean")),
        ("curl -s https://a.example/x | sh", ("network", "a.example")),
        ("curl -s https://a.example/x | sh", ("runs text", "what is piped into sh")),
        ("ssh host ls", ("network", "ssh")),
        ("git push", ("network", "git push")),
        ("echo a > b", ("writes", "b")),
        ("echo a >> /etc/b", ("writes outside", "/etc/b")),
        ("echo a >~/b", ("writes outside", "~/b")),
        ("ls | tee b", ("writes", "b")),
        ("cp a /b", ("writes outside", "/b")),
        ("dd if=a of=/dev/sda", ("writes outside", "/dev/sda")),
        ("sed -i s/a/b/ c", ("writes", "c")),
        ("mv a b", ("moves", "")),
        ("kill -9 1", ("processes", "kill")),
        ("chmod +x a", ("system", "chmod")),
        ("apt-get -y install x", ("installs", "apt-get")),
        ("npm i x", ("installs", "npm")),
        ("cat ~/.ssh/id_rsa", ("secrets", ".ssh")),
        ("echo 'it is\nrm a", ("deletes", "a")),
        ("# x\\\nrm a", ("deletes", "a")),
        ("ls # x\\\nrm a", ("deletes", "a")),
        ("echo a#b; rm a", ("deletes", "a")),
        ("echo '#'; rm a", ("deletes", "a")),
        ('echo "a \\" # b"; rm a', ("deletes", "a")),
        ("echo \\# x; rm a", ("deletes", "a")),
        ("echo 'x\n# y'; rm a", ("deletes", "a")),
        ("r\\\nm a", ("deletes", "a")),
        ("echo a\\\\\nrm a", ("deletes", "a")),
        ("ls; rm a \\", ("deletes", "a")),
        (f"echo {'x' * 30_000}; rm a", ("deletes", "a")),
        (f"echo {'x' * 19_990}; rm /long/name", ("deletes", "/long/name")),
        ("`echo $(rm a)`", ("deletes", "a")),
        ("sh -c 'echo $(rm a)'", ("deletes", "a")),
        ("then rm a", ("deletes", "a")),
        ("sudo -u root -n x rm a", ("deletes", "a")),
        ("timeout 5 rm a", ("deletes", "a")),
        ("mkfs.ext4 /dev/sda", ("system", "mkfs.ext4")),
        ("ln -s a b", ("writes", "b")),
        ("mkdir a b", ("writes", "a")),
        ("touch", ("writes", "")),
        ("curl -o a https://a.example", ("network", "a.example")),
        ("find . -exec sudo ls \\;", ("rights", "sudo")),
        ("git reset --hard", ("deletes", "git reset")),
        ("sed --in-place=.bak s/a/b/ c", ("writes", "c")),
        ("cp a b", ("writes", "b")),
    ],
)
def test_shell_is_read(code: str, expected: tuple[str, str]) -> None:
    assert expected in scan_kinds("shell", code)


@pytest.mark.parametrize(
    "code",
    [
        "ls -la",
        "echo 'a > b'",
        "# rm a",
        "echo rm a",
        "cat a 2>/dev/null",
        "ls 2>&1",
        "ls # x; rm a",
        "git reset",
        "git log --hard",
        "git checkout main",
        "git restore --staged a",
        "docker ps",
        "kubectl get pods",
        "psql -c 'select 1'",
        "tar tzf a.tgz",
        "alias ll='ls -l'",
        "trap - EXIT",
        "sort < a",
        "cp a",
        "sed s/a/b/ c",
        "sed s/a/b/ c-i",
        "find . -exec",
        "find . -name x -exec sh \\;",
        "xmkfs",
        "",
    ],
)
def test_harmless_shell_is_left_alone(code: str) -> None:
    assert scan_code("shell", code, HERE).found == ()


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("echo a > b c", {("writes", "b")}),
        ("ln -s a b", {("writes", "b")}),
        ("rm -- -f a b-", {("deletes", "a"), ("deletes", "b-")}),
        ("sed -i s/a/b/ c", {("writes", "c")}),
        ("curl -o a https://a.example", {("network", "a.example"), ("writes", "a")}),
        ("ls | sh a", set()),
        ("tee b < a", {("writes", "b")}),
        ("xargs rm < list", {("deletes", "")}),
    ],
)
def test_nothing_more_than_what_shell_does_is_listed(code: str, expected: set[tuple[str, str]]) -> None:
    assert scan_kinds("shell", code) == expected


@pytest.mark.parametrize(
    ("language", "code", "lines"),
    [
        ("shell", "ls\nrm a", {2}),
        ("shell", "ls\nrm \\\n  a\nls\nrm b", {2, 5}),
        ("shell", "ls\nls\nrm a \\", {3}),
        ("python", "%%bash\nls\nrm a", {3}),
        ("python", "%%time\n\nimport os\nos.remove('a')", {4}),
        ("python", "x = 1\n!rm a", {2}),
        ("python", "\n%pip install x", {2}),
        ("javascript", "\nfs.rmSync('a')", {2}),
    ],
)
def test_findings_are_at_the_line_where_the_command_begins(language: str, code: str, lines: set[int]) -> None:
    assert scan_code(language, code, HERE).lines == lines


@pytest.mark.parametrize("before", [0, 3_990, 3_999, 5_000, 90_000])
def test_a_long_line_of_another_language_is_read_to_its_end(before: int) -> None:
    code = f"/*{'x' * before}*/ fs.rmSync('a'); fetch('https://a.example/'); read('.ssh/id_rsa')"
    assert scan_kinds("javascript", code) == {
        ("deletes", ""),
        ("network", ""),
        ("network", "a.example"),
        ("secrets", ".ssh"),
    }


@pytest.mark.parametrize(
    ("language", "code", "kind"),
    [
        ("javascript", "fs.rmSync('a')", "deletes"),
        ("java", "Files.walk(p).forEach(Files::delete)", "deletes"),
        ("java", "new File(a).delete()", "deletes"),
        ("java", 'Runtime.getRuntime().exec("ls")', "programs"),
        ("java", 'new FileWriter("a")', "writes"),
        ("java", 'new URL("http://a.example").openStream()', "network"),
        ("julia", 'rm("a")', "deletes"),
        ("julia", "run(`ls`)", "programs"),
        ("julia", 'Pkg.add("A")', "installs"),
        ("julia", 'open("a", "w")', "writes"),
        ("julia", "include(a)", "runs text"),
        ("r", "fs::file_delete(a)", "deletes"),
        ("r", "save.image(a)", "writes"),
        ("ruby", "Pathname(a).delete", "deletes"),
        ("perl", "do 'a.pl'", "runs text"),
        ("javascript", "await fetch(u)", "network"),
        ("typescript", "fs.rmSync('a')", "deletes"),
        ("react", "await fetch(u)", "network"),
        ("deno", "Deno.removeSync('a')", "deletes"),
        ("deno", "new Deno.Command('ls')", "programs"),
        ("deno", "await Deno.writeTextFile('a', b)", "writes"),
        ("bun", "await Bun.$`ls`", "programs"),
        ("bun", "await Bun.write('a', b)", "writes"),
        ("ruby", "File.delete 'a'", "deletes"),
        ("perl", "unlink 'a';", "deletes"),
        ("lua", "os.execute('ls')", "programs"),
        ("r", "install.packages('x')", "installs"),
        ("powershell", "remove-item a", "deletes"),
        ("applescript", 'do shell script "ls" with administrator privileges', "rights"),
    ],
)
def test_other_languages_are_read_by_what_lines_look_like(language: str, code: str, kind: str) -> None:
    assert kind in {item.kind for item in scan_code(language, code, HERE).found}


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("html", "<p>"),
        ("klingon", "x"),
        ("python", "print('a"),
        ("python", "(" * 5000),
        ("python", "a\0b"),
        ("python", "x" * 500_000),
    ],
)
def test_what_cannot_be_read_is_reported_to_be_so(language: str, code: str) -> None:
    assert not scan_code(language, code, HERE).readable


def test_nothing_raises_whatever_the_code_is() -> None:
    for code in (
        "'" * 999,
        "$(" * 500,
        "`" * 7,
        "> > >",
        ">",
        "\\",
        "a\\\n\\\n",
        "\ud800",
        "%",
        "!",
        "%%",
        "a;;b",
    ):
        for language in ("python", "shell", "javascript", "r"):
            scan_code(language, code, HERE)


def test_sentences_name_files_and_lines_gravest_first() -> None:
    code = "import os, shutil\nopen('b', 'w')\nos.remove('a')\nshutil.rmtree('c')"
    assert scan_code("python", code, HERE).sentences == ["deletes: a, c (lines 3, 4)", "writes files: b"]
    assert scan_code("python", code, HERE).lines == {3, 4}


def test_long_lists_are_cut_short() -> None:
    def sentence(*names: str) -> list[str]:
        return scan_code("shell", "\n".join(f"rm {name}" for name in names), HERE).risk_sentences

    assert sentence("a") == ["deletes: a (line 1)"]
    assert sentence("a", "b", "c") == ["deletes: a, b, c (lines 1, 2, 3)"]
    assert sentence(*"abcd") == ["deletes: a, b, c, … (lines 1, 2, 3, 4)"]
    assert sentence(*"abcde") == ["deletes: a, b, c, … (lines 1, 2, 3, 4, …)"]


def test_parts_that_were_not_checked_are_named_up_to_three() -> None:
    def unchecked(*parts: str) -> str:
        found = Findings(unchecked=tuple(Finding("not understood", part, 2) for part in parts))
        return found.fact_sentences[0]

    assert unchecked("a", "b", "b", "c") == "not checked: a (line 2), b (line 2), c (line 2)"
    assert unchecked("a", "b", "c", "d", "e") == "not checked: a (line 2), b (line 2), c (line 2) and 2 more"
    everywhere = Findings(unchecked=(Finding("not understood", "all of it", 0),))
    assert everywhere.fact_sentences == ["not checked: all of it"]


def test_code_of_up_to_a_bound_is_looked_through() -> None:
    assert scan_code("python", "#" * 400_000, HERE).readable
    assert not scan_code("python", "#" * 400_001, HERE).readable


def test_the_narrowest_grant_is_used_and_one_for_a_number_of_pieces_last() -> None:
    code = "print(1)"
    given = [
        Permission("count", "r", left=2),
        Permission("count", "python", left=2),
        Permission("language", "python"),
        Permission("unremarkable", "python"),
        Permission("code", "python", code),
        Permission("count", "lua", left=2),
    ]
    permissions = Permissions()
    for item in given:
        permissions.add(item)
    for used in (given[4], given[3], given[2]):
        assert permissions.use("python", code, HERE) == used
        assert permissions.revoke(used)
    assert permissions.use("python", code, HERE) == given[1]
    assert set(permissions) == {given[0], Permission("count", "python", left=1), given[5]}
    assert permissions.use("python", code, HERE) == Permission("count", "python", left=1)
    assert tuple(permissions) == (given[0], given[5])
    assert permissions.use("python", code, HERE) is None


def test_what_is_granted_where_a_cell_runs_counts_there_only() -> None:
    permissions = Permissions()
    permissions.enter("")
    python, everything = Permission("language", "python"), Permission("everything", "r", where="on gpu")
    with permissions.at(""):
        assert not permissions.visiting
    with permissions.at("gpu"):
        assert permissions.visiting
        permissions.add(python)
        assert not permissions.all_granted
        permissions.add(everything)
        # That code runs there is no move of the session.
        permissions.enter("gpu")
        assert permissions.all_granted
        assert not permissions.everything
        assert tuple(permissions) == (python, everything)
    for place in ("", "elsewhere"):
        with permissions.at(place):
            assert not permissions.all_granted
            assert tuple(permissions) == ()
            assert permissions.use("python", "1", HERE) is None
    assert permissions.in_force == (python, everything)
    with permissions.at("gpu"):
        assert permissions.use("python", "1", HERE) == python
        assert permissions.use("r", "1", HERE) is None
    permissions.everything = False
    assert permissions.in_force == (python,)
    permissions.enter("")
    assert permissions
    permissions.enter("another machine")
    assert not permissions
    assert permissions.in_force == ()


def test_auto_run_ends_where_the_session_moves_and_is_revoked_for_one_place_alone() -> None:
    permissions = Permissions(everything=True)
    permissions.enter("")
    permissions.enter("")
    assert permissions.all_granted
    there = Permission("everything", "r", where="on gpu")
    with permissions.at("gpu"):
        assert not permissions.all_granted
        permissions.add(there)
    assert permissions.revoke(there)
    assert not permissions.revoke(there)
    assert permissions.everything
    assert permissions.revoke(permissions.in_force[0])
    assert not permissions.revoke(Permission("everything", ""))
    permissions.add(Permission("everything", "python"))
    assert permissions.in_force == (Permission("everything", ""),)
    permissions.enter("gpu")
    assert not permissions.all_granted
    assert permissions.in_force == ()


@pytest.mark.parametrize("where", ["", "on this machine"])
@pytest.mark.parametrize("own", [False, True])
def test_auto_run_is_revoked_that_was_granted_for_cells_which_name_this_machine(
    own: bool, where: str
) -> None:
    permissions = Permissions(everything=own)
    permissions.enter("gpu")
    with permissions.at(""):
        permissions.add(Permission("everything", "python", where=where))
    assert permissions.revoke(permissions.in_force[-1])
    with permissions.at(""):
        assert not permissions.all_granted
    assert bool(permissions.in_force) is bool(own and where)


def test_grants_can_be_read_and_revoked_while_code_is_scanned_for_one() -> None:
    permissions, earlier = Permissions(), EarlierCode()
    permissions.add(Permission("unremarkable", "python"))
    earlier.find_current = lambda _: HERE
    assert permissions.use("python", "1", HERE, earlier)
    waiting = []

    def revoke_meanwhile(_: str) -> Path:
        thread = threading.Thread(target=permissions.clear, daemon=True)
        thread.start()
        thread.join(5)
        waiting.append(thread.is_alive())
        return HERE

    earlier.find_current = revoke_meanwhile
    assert permissions.use("python", "1", HERE, earlier) is None
    assert waiting == [False]


def test_a_grant_that_is_given_again_replaces_the_earlier_one_of_its_place() -> None:
    permissions = Permissions()
    permissions.add(Permission("count", "r", left=2))
    with permissions.at("gpu"):
        permissions.add(Permission("count", "r", left=4))
    permissions.add(Permission("count", "r", left=5))
    assert [grant.left for grant in permissions.in_force] == [4, 5]
    permissions.forget_language("python")
    assert len(permissions.in_force) == 2
    permissions.forget_language("r")
    assert permissions.in_force == ()


def test_what_is_no_file_in_the_folder_to_which_code_changes_may_be_one_in_its_own() -> None:
    assert scan_kinds("shell", "cd /dev\necho a > null") == {("writes outside", "null")}
    assert scan_kinds("shell", "cd /dev\necho a > /dev/null") == set()
    assert scan_kinds("python", "import os\nos.chdir('/dev/fd')\nopen('3', 'w')") == {("writes outside", "3")}
    assert scan_kinds("python", "open('/dev/fd/3', 'w')") == set()


def test_tools_of_servers_are_listed_in_languages_that_can_call_them() -> None:
    earlier = EarlierCode()
    earlier.servers = {"github"}

    def tools(language: str, code: str) -> list[str]:
        return [item.what for item in scan_code(language, code, HERE, earlier).found if item.kind == "tools"]

    assert tools("python", "tools.github.search('x')\ntools.gitlab.search('x')") == ["github.search"]
    assert tools("python", "tools.github.search('x'") == ["github.search"]
    assert tools("javascript", "await tools.github.search({})") == ["github.search"]
    assert tools("ruby", "tools.github.search") == []


def test_a_file_that_is_written_far_into_a_line_is_listed_once() -> None:
    code = "fs.writeFileSync('a', 'x')"
    assert scan_kinds("javascript", code) == scan_kinds("javascript", " " * 4_100 + code) == {("writes", "a")}


def test_lines_of_applescript_that_are_not_known_are_named_with_their_numbers() -> None:
    unchecked = scan_code("applescript", 'set x to 1\nwibble "a"\n\n  wobble x', HERE).unchecked
    assert [(item.what, item.line) for item in unchecked] == [('wibble "a"', 2), ("wobble x", 4)]


def test_a_text_to_show_is_checked_where_it_may_be_the_name_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "alpha.csv").touch()
    code = "from IPython.display import Markdown\nx = str(1 + 1)\nMarkdown(f'{}{{x}}')"
    for beginning in ("alp", "data/", "dat", "ht", "https", "./"):
        assert not scan_code("python", code.format(beginning), tmp_path).nothing_listed, beginning
    for beginning in ("Result: ", "dat/", "z"):
        assert scan_code("python", code.format(beginning), tmp_path).nothing_listed, beginning


def test_only_some_languages_are_read_without_regard_to_case() -> None:
    assert scan_kinds("javascript", "FETCH(u); FS.RMSYNC('a')") == set()
    assert ("deletes", "") in scan_kinds("powershell", "REMOVE-ITEM a")
    assert ("deletes", "") in scan_kinds("applescript", "DELETE x")


def test_nothing_found_in_code_that_was_read_whole_is_nothing_to_list() -> None:
    assert Findings().nothing_listed
    assert not Findings(parsed=False).nothing_listed
    assert not Findings(readable=False).nothing_listed


def test_every_kind_has_words_of_its_own_the_gravest_first() -> None:
    assert tuple(WORDS) == get_args(Kind)
    assert all(WORDS.values())
    assert len(set(WORDS.values())) == len(WORDS)


@pytest.mark.parametrize(
    ("grant", "words", "offer"),
    [
        (
            Permission("code", "python", "\n  print(1)\nprint(2)"),
            "this python code again (3 lines: print(1))",
            "exactly this code again",
        ),
        (Permission("code", "r", "x\n"), "this r code again (1 line: x)", "exactly this code again"),
        (
            Permission("code", "r", "x" * 40),
            f"this r code again (1 line: {'x' * 40})",
            "exactly this code again",
        ),
        (
            Permission("code", "r", "x" * 41),
            f"this r code again (1 line: {'x' * 39}…)",
            "exactly this code again",
        ),
        (Permission("count", "r", left=2), "the next 2 r cells", "the next 2 r cells, whatever they do"),
        (
            Permission("unremarkable", "r", where="on gpu1"),
            "r code with no risks found on gpu1",
            "r code with no risks found: every part is known to be harmless",
        ),
        (Permission("language", "r"), "all r", "all r, whatever it does: delete, send, install"),
        (
            Permission("language", "mcp:t.add"),
            "every call of mcp:t.add",
            "every call of mcp:t.add, whatever its arguments",
        ),
        (
            Permission("everything", "r"),
            "everything (auto-run)",
            "everything, in every language: auto-run (asks for a word)",
        ),
    ],
    ids=lambda value: value.scope if isinstance(value, Permission) else "",
)
def test_a_grant_and_its_offer_say_what_they_cover(grant: Permission, words: str, offer: str) -> None:
    assert (grant.words, grant.offer) == (words, offer)
    assert Permission("count", "r", left=1).words == "the next r cell"


def test_code_with_findings_is_not_offered_a_grant_that_would_not_cover_it() -> None:
    assert [offer.scope for offer in list_offers("python", "print(1)", HERE)] == [
        "code",
        "count",
        "unremarkable",
        "language",
        "everything",
    ]
    assert list_offers("python", "1", HERE)[1].offer == "the next 5 python cells, whatever they do"
    for code in ("import os\nos.remove('a')", "x = '\u202e'", "print("):
        assert "unremarkable" not in [offer.scope for offer in list_offers("python", code, HERE)]


def test_a_line_names_each_kind_of_risk_once() -> None:
    code = "import os, requests\nrequests.get('https://a.example/x.csv')\nos.remove('a'); os.remove('b')"
    assert scan_code("python", code, HERE).risks_by_line == [
        (3, "deletes: a, b"),
        (2, "uses the network: a.example"),
    ]


def test_code_on_another_machine_is_judged_by_the_folder_there_and_not_by_files_here(tmp_path: Path) -> None:
    (tmp_path / "json.py").touch()
    (tmp_path / "table.csv").symlink_to("/etc/passwd")
    here = f"open({str(tmp_path / 'a')!r}, 'w')"
    inside, outside, home = "open('/scratch/ana/b', 'w')", "open('../c', 'w')", "open('~/d', 'w')"
    read = "import json\nprint(open('table.csv').read())"
    earlier = EarlierCode()
    local = scan_code("python", read, tmp_path, earlier)
    assert {"json.py in this folder may be loaded"} <= {item.what for item in local.unchecked}

    earlier.enter("ssh:gpu1\non gpu1 as ana, /scratch/ana", "/scratch/ana")
    there = scan_code("python", "\n".join((here, inside, outside, home)), tmp_path, earlier)
    assert [(item.kind, item.line) for item in there.found] == [
        ("writes outside", 1),
        ("writes", 2),
        ("writes outside", 3),
        ("writes outside", 4),
    ]
    assert [item.what for item in scan_code("python", read, tmp_path, earlier).unchecked] == [
        "the files on gpu1 as ana, /scratch/ana"
    ]

    # Of a notebook's kernel, nobody knows the folder.
    earlier.enter("kernel\non a kernel")
    kernel = scan_code("python", f"{inside}\nopen('e', 'w')", tmp_path, earlier)
    assert [(item.kind, item.line) for item in kernel.found] == [("writes outside", 1), ("writes", 2)]


def test_offers_take_a_scan_that_was_made_already() -> None:
    found = scan_code("python", "import shutil\nshutil.rmtree('a')", HERE)
    assert "unremarkable" in [offer.scope for offer in list_offers("python", "1", HERE)]
    assert "unremarkable" not in [offer.scope for offer in list_offers("python", "1", HERE, findings=found)]


@pytest.mark.parametrize("name", ["matplotlibrc", "seaborn.py", "kiwisolver.py"])
def test_a_file_that_drawing_would_load_from_the_folder_is_listed(name: str, tmp_path: Path) -> None:
    code = "import matplotlib.pyplot as plt\nplt.plot([1])"
    assert scan_code("python", code, tmp_path).nothing_listed
    (tmp_path / name).write_text("")
    assert scan_code("python", code, tmp_path).fact_sentences == [
        f"not checked: {name} in this folder may be loaded"
    ]


def test_a_part_of_code_is_named_whole_up_to_a_length_and_then_cut_with_a_mark() -> None:
    assert shorten_part("x" * 40) == "x" * 40
    assert shorten_part("x" * 41) == "x" * 39 + "…"
    assert shorten_part("x" * 38 + "  y") == "x" * 38 + "…"


def test_a_message_of_a_logger_is_no_file() -> None:
    found = scan_code("python", "logger.info('starts')", Path("/home/ada"))
    assert "writes" not in {item.kind for item in found.found}


def test_an_archive_that_is_only_listed_writes_nothing() -> None:
    for code in ("unzip -l a.zip", "unzip -qp a.zip", "unzip -Z1 a.zip"):
        assert "writes" not in {item.kind for item in scan_code("shell", code, Path("/home/ada")).found}
