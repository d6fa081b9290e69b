"""Code that replaces a file which is there already is told from code that writes a new one."""

import json
from pathlib import Path

import pytest

from oi_tui.engine.review.earlier_code import EarlierCode
from oi_tui.engine.review.findings import Findings
from oi_tui.engine.review.folder import read_listing
from oi_tui.engine.review.scanner import scan_code
from oi_tui.messages import RunEnded
from oi_tui.runtimes import Computer
from oi_tui.runtimes.remote import file_answers, worker_files

PATHS = "from pathlib import Path\nimport os, shutil\n"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    place = tmp_path / "work"
    (place / "out").mkdir(parents=True)
    for name in ("prices.csv", "plot.png", "data.npy", "out/prices.csv", "my file"):
        (place / name).write_text("1")
    return place


def judge(language: str, code: str, place: Path) -> Findings:
    """Judge by the files here, and by what a target says of the same files, which is the same."""
    here = scan_code(language, code, place)
    answer = worker_files.answer({"what": "list", "path": "."}, place, place)
    assert isinstance(answer, file_answers.FileWords)
    earlier = EarlierCode()
    earlier.enter(f"ssh:gpu1\non gpu1, {place}", str(place), read_listing(answer.text, str(place)))
    assert scan_code(language, code, Path("/"), earlier) == here
    return here


def overwritten(language: str, code: str, place: Path) -> list[str]:
    return [item.what for item in judge(language, code, place).found if item.kind == "overwrites"]


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("open('prices.csv', 'w')", "prices.csv"),
        ("open(file='prices.csv', mode='wb')", "prices.csv"),
        ("open('./prices.csv', 'w+')", "./prices.csv"),
        ("name = 'prices'\nopen(f'{name}.csv', 'w')", "prices.csv"),
        ("df.to_csv('prices.csv')", "prices.csv"),
        ("df.to_csv(path_or_buf='prices.csv', mode='w')", "prices.csv"),
        ("plt.savefig('plot.png')", "plot.png"),
        ("fig.savefig('plot')", "plot.png"),
        ("np.save('data', x)", "data.npy"),
        ("Path('prices.csv').write_text('')", "prices.csv"),
        ("(Path('out') / 'prices.csv').write_bytes(b'')", "out/prices.csv"),
        ("target = Path('out', 'prices.csv')\ntarget.write_text('')", "out/prices.csv"),
        ("target = Path('prices.csv')\nwith target.open('w') as f: pass", "prices.csv"),
        ("open(os.path.join('out', 'prices.csv'), 'w')", "out/prices.csv"),
        ("shutil.copy('new.csv', 'prices.csv')", "prices.csv"),
        ("shutil.copy('/srv/prices.csv', 'out')", "out/prices.csv"),
        ("shutil.move('prices.csv', 'out/')", "out/prices.csv"),
        ("os.rename('new.csv', 'prices.csv')", "prices.csv"),
        ("os.replace('new.csv', dst='prices.csv')", "prices.csv"),
        ("Path('new.csv').rename('prices.csv')", "prices.csv"),
        ("%%writefile prices.csv\n1", "prices.csv"),
        ("!ls > prices.csv", "prices.csv"),
        ("import subprocess\nsubprocess.run(['cp', 'new.csv', 'prices.csv'])", "prices.csv"),
    ],
)
def test_python_that_replaces_a_file_names_it(code: str, name: str, place: Path) -> None:
    code = code if code.startswith("%%") else PATHS + code
    assert overwritten("python", code, place) == [name]
    findings = judge("python", code, place)
    assert findings.level == "notes"
    assert not [item for item in findings.found if item.kind == "writes"]


@pytest.mark.parametrize(
    "code",
    [
        "open('prices.csv', 'a')",
        "open('prices.csv', 'x')",
        "open('prices.csv', 'r+')",
        "open('new.csv', 'w')",
        "open('out', 'w')",
        "df.to_csv('prices.csv', mode='a')",
        "df.to_csv('prices.csv', mode=mode)",
        "Path('prices.csv').touch()",
        "shutil.copy('prices.csv', 'new.csv')",
        "shutil.copyfile('prices.csv', 'out')",
        "os.symlink('prices.csv', 'plot.png')",
        "np.save('prices.csv\\0', x)",
        "%%writefile -a prices.csv\n1",
    ],
)
def test_python_that_adds_to_a_file_or_makes_one_does_not(code: str, place: Path) -> None:
    code = code if code.startswith("%%") else PATHS + code
    assert overwritten("python", code, place) == []
    assert [item.kind for item in judge("python", code, place).found] == ["writes"]


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("ls > prices.csv", ["prices.csv"]),
        ("ls >| prices.csv", ["prices.csv"]),
        ("ls &> prices.csv", ["prices.csv"]),
        ("ls >> prices.csv", []),
        ("ls &>> prices.csv", []),
        ("ls 2> prices.csv >> new.csv", ["prices.csv"]),
        ("cat < prices.csv", []),
        ("ls > new.csv", []),
        ("F=prices.csv; ls > $F", ["prices.csv"]),
        ("cp new.csv 'my file'", ["my file"]),
        ("cp -n new.csv prices.csv", []),
        ("cp /srv/prices.csv out", ["out/prices.csv"]),
        ("cp -t out prices.csv new.csv", ["out/prices.csv"]),
        ("cp --target-directory=out prices.csv", ["out/prices.csv"]),
        ("mv new.csv prices.csv", ["prices.csv"]),
        ("mv prices.csv out/", ["out/prices.csv"]),
        ("mv prices.csv new.csv", []),
        ("ln -s a prices.csv", []),
        ("ln -sf a prices.csv", ["prices.csv"]),
        ("ls | tee prices.csv new.csv", ["prices.csv"]),
        ("ls | tee -a prices.csv", []),
        ("dd if=/dev/zero of=prices.csv", ["prices.csv"]),
        ("truncate -s 0 prices.csv", ["prices.csv"]),
        ("sort -uo prices.csv new.csv", ["prices.csv"]),
        ("curl -sSLo prices.csv https://a.example/x", ["prices.csv"]),
        ("curl -oprices.csv https://a.example/x", ["prices.csv"]),
        ("curl --output prices.csv https://a.example/x", ["prices.csv"]),
        ("curl -LO 'https://a.example/prices.csv?x=1'", ["prices.csv"]),
        ("curl -o- https://a.example/prices.csv", []),
        ("curl -XPOST -d o https://a.example/prices.csv", []),
        ("wget -qO prices.csv https://a.example/x", ["prices.csv"]),
        ("wget --output-document=prices.csv https://a.example/x", ["prices.csv"]),
        ("wget https://a.example/prices.csv", []),
    ],
)
def test_shell_that_replaces_files_names_them(code: str, names: list[str], place: Path) -> None:
    assert overwritten("shell", code, place) == names
    written = [item.what for item in judge("shell", code, place).found if item.kind == "writes"]
    assert not set(written).intersection(names)


@pytest.mark.parametrize(
    ("language", "code", "name"),
    [
        ("r", "write.csv(df, 'prices.csv', row.names = FALSE)", "prices.csv"),
        ("r", "out <- 'prices.csv'\ndf |> write_csv(file = out)", "prices.csv"),
        ("r", "saveRDS(df,\n  file.path('out', 'prices.csv'))", "out/prices.csv"),
        ("r", "ggsave('plot.png', p)", "plot.png"),
        ("r", "png(filename = 'plot.png', width = 400)", "plot.png"),
        ("r", "con <- file('prices.csv', 'w')", "prices.csv"),
        ("r", "sink('prices.csv')", "prices.csv"),
        ("r", "cat('x', file = paste0('prices', '.csv'))", "prices.csv"),
        ("r", "file.copy('/srv/prices.csv', 'out', overwrite = TRUE)", "out/prices.csv"),
        ("ruby", "File.write('prices.csv', text)", "prices.csv"),
        ("ruby", "File.open 'prices.csv', 'w' do |f|\nend", "prices.csv"),
        ("ruby", 'name = "prices"\nIO.write("#{name}.csv", "a")', "prices.csv"),
        ("ruby", "FileUtils.cp('/srv/prices.csv', 'out')", "out/prices.csv"),
        ("ruby", "FileUtils.mv 'new.csv', 'prices.csv'", "prices.csv"),
        ("ruby", "Pathname.new('prices.csv').write('a')", "prices.csv"),
        ("javascript", "fs.writeFileSync('prices.csv', 'a')", "prices.csv"),
        ("javascript", "const n = 'prices'\nawait fsp.writeFile(`${n}.csv`, x)", "prices.csv"),
        ("javascript", "fs.createWriteStream(path.join('out', 'prices.csv'))", "out/prices.csv"),
        ("javascript", "fs.copyFileSync('new.csv', 'prices.csv')", "prices.csv"),
        ("javascript", "await rename('new.csv', 'prices.csv')", "prices.csv"),
        ("typescript", "const f: string = 'prices.csv'\nfs.writeFileSync(f, '')", "prices.csv"),
        ("deno", "await Deno.writeTextFile('prices.csv', '')", "prices.csv"),
        ("deno", "Deno.copyFileSync('new.csv', 'prices.csv')", "prices.csv"),
        ("bun", "await Bun.write('prices.csv', '')", "prices.csv"),
        ("bun", "Bun.file('prices.csv').writer()", "prices.csv"),
        ("perl", "open(my $out, '>', 'prices.csv') or die;", "prices.csv"),
        ("php", "file_put_contents('prices.csv', 'a');", "prices.csv"),
        ("lua", "io.open('prices.csv', 'w')", "prices.csv"),
        ("octave", "fid = fopen('prices.csv', 'w');", "prices.csv"),
        ("go", 'f, _ := os.Create("prices.csv")', "prices.csv"),
        ("c", 'FILE *f = fopen("prices.csv", "w");', "prices.csv"),
        ("cpp", 'std::ofstream out("prices.csv");', "prices.csv"),
        ("rust", 'fs::write("prices.csv", "a")?;', "prices.csv"),
        ("java", 'Files.writeString(Path.of("prices.csv"), "a");', "prices.csv"),
        ("julia", 'CSV.write("prices.csv", df)', "prices.csv"),
    ],
)
def test_other_languages_that_replace_a_file_name_it(
    language: str, code: str, name: str, place: Path
) -> None:
    assert overwritten(language, code, place) == [name]
    assert not [item for item in judge(language, code, place).found if item.kind == "writes"]


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("r", "write.table(df, 'prices.csv', append = TRUE)"),
        ("r", "readRDS('data.npy'); x <- 'prices.csv'"),
        ("r", "# write.csv(df, 'prices.csv')"),
        ("r", "file.copy('new.csv', 'prices.csv')"),
        ("r", "file('prices.csv', 'a')"),
        ("ruby", "File.open('prices.csv', 'a')"),
        ("ruby", "File.write('new.csv', text)"),
        ("javascript", "fs.appendFileSync('prices.csv', 'a')"),
        ("javascript", "fs.writeFileSync('prices.csv', 'a', { flag: 'a' })"),
        ("javascript", "fs.copyFileSync('new.csv', 'prices.csv', fs.constants.COPYFILE_EXCL)"),
        ("deno", "Deno.writeTextFileSync('prices.csv', 'x', { append: true })"),
        ("perl", "open(my $in, '<', 'prices.csv');"),
    ],
)
def test_other_languages_that_leave_files_as_they_are_do_not(language: str, code: str, place: Path) -> None:
    assert overwritten(language, code, place) == []


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("python", "import os\nos.chdir('out')\nopen('prices.csv', 'w')"),
        ("shell", "cd out && ls > prices.csv"),
        ("r", "setwd('out')\nwrite.csv(df, 'prices.csv')"),
        ("ruby", "Dir.chdir 'out'\nFile.write('prices.csv', '')"),
        ("javascript", "process.chdir('out')\nfs.writeFileSync('prices.csv', '')"),
    ],
)
def test_code_that_changes_the_folder_is_judged_by_that_one_too(
    language: str, code: str, place: Path
) -> None:
    (place / "prices.csv").unlink()
    assert overwritten(language, code, place) == ["prices.csv"]
    leads_out = [item.kind for item in judge(language, code.replace("out", "/etc", 1), place).found]
    assert leads_out == ["writes outside"]


def test_code_that_changes_to_a_folder_that_is_not_known_says_so(place: Path) -> None:
    for language, code in (("python", "os.chdir(there)"), ("r", "setwd(there)"), ("shell", "cd $THERE")):
        sentences = " ".join(judge(language, code, place).sentences)
        assert "files in the folder to which it changes" in sentences, language


def test_code_after_a_change_of_the_folder_is_judged_by_the_new_one(place: Path) -> None:
    earlier = EarlierCode()
    earlier.find_current = lambda _: place / "out"
    (place / "prices.csv").unlink()

    def find(code: str) -> list[tuple[str, str]]:
        return [(item.kind, item.what) for item in scan_code("python", code, place, earlier).found]

    assert find("open('prices.csv', 'w')") == [("overwrites", "prices.csv")]
    assert find("open('../data.npy', 'w')") == [("overwrites", "../data.npy")]
    assert find("open('../../a.csv', 'w')") == [("writes outside", "../../a.csv")]
    assert find("print(open('prices.csv').read())") == []
    earlier.find_current = lambda _: Path("/etc")
    assert find("open('new.csv', 'w')") == [("writes outside", "new.csv")]
    assert find("print(open('passwd').read())") == [("reads", "passwd")]
    (place / ".private").mkdir()
    earlier.find_current = lambda _: place / ".private"
    assert find("print(open('a.csv').read())") == [("reads", "a.csv")]
    earlier.find_current = lambda _: None
    unknown = scan_code("python", "print(open('a.csv').read())", place, earlier)
    assert unknown.sentences[-1] == "not checked: the folder in which python is now"
    assert not unknown.nothing_listed


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("python", "import os; os.chdir('out')"),
        pytest.param("shell", "cd out", marks=pytest.mark.needs("bash")),
        pytest.param("javascript", "process.chdir('out')", marks=pytest.mark.needs("node")),
        pytest.param("r", "setwd('out')", marks=pytest.mark.needs("R")),
        pytest.param("ruby", "Dir.chdir('out')", marks=pytest.mark.needs("ruby")),
    ],
)
def test_the_folder_of_a_language_is_known(language: str, code: str, place: Path) -> None:
    computer = Computer(cwd=place)
    try:
        assert computer.find_folder(language) == place
        *_, end = computer.run(language, code)
        assert isinstance(end, RunEnded)
        assert end.state == "finished"
        assert computer.find_folder(language) == place / "out"
    finally:
        computer.close()


def test_a_table_written_to_a_file_that_is_there_replaces_it(place: Path) -> None:
    assert overwritten("sql", "copy t to 'prices.csv'", place) == ["prices.csv"]
    assert overwritten("sql", "copy t to 'new.csv'", place) == []
    assert overwritten("sql", "copy t from 'prices.csv'", place) == []


def test_a_file_outside_of_the_folder_is_named_as_such_and_as_overwritten(place: Path) -> None:
    outside = place.parent / "notes.txt"
    code = f"open({str(outside)!r}, 'w')"
    assert [item.kind for item in scan_code("python", code, place).found] == ["writes outside"]
    outside.touch()
    findings = scan_code("python", code, place)
    assert [item.kind for item in findings.found] == ["writes outside", "overwrites"]
    assert findings.level == "danger"


@pytest.mark.parametrize(
    "path", ["Path.home() / 'prices.csv'", "os.path.join(str(Path.home()), 'prices.csv')"]
)
def test_a_file_in_the_home_is_named(path: str, place: Path) -> None:
    (Path.home() / "prices.csv").write_text("1")
    found = scan_code("python", f"{PATHS}open({path}, 'w')", place).found
    assert ("overwrites", "~/prices.csv") in [(item.kind, item.what) for item in found]


def test_files_that_a_target_did_not_list_are_not_said_to_be_overwritten(place: Path) -> None:
    facts: dict[str, object] = {
        "real": str(place),
        "real_root": str(place),
        "home": "",
        "search_path": [],
        "listed": [],
        "entries": {},
    }
    earlier = EarlierCode()
    earlier.enter("ssh:gpu1\non gpu1", str(place), read_listing(json.dumps(facts), str(place)))
    found = scan_code("python", "open('prices.csv', 'w')", place, earlier).found
    assert [item.kind for item in found] == ["writes"]


def test_it_is_a_risk_that_safe_mode_asks_about(place: Path) -> None:
    findings = judge("python", "x = 1\nopen('prices.csv', 'w')", place)
    assert findings.risk_sentences == ["overwrites: prices.csv (line 2)"]
    assert findings.risks_by_line == [(2, "overwrites: prices.csv")]


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("Set-Content prices.csv 1", "prices.csv"),
        ("'x' | set-content -LiteralPath 'prices.csv'", "prices.csv"),
        ("Set-Content -Value 1 -Path prices.csv", "prices.csv"),
        ("Set-Content `\n  -Path prices.csv `\n  -Value 1", "prices.csv"),
        ("Set-Content -Path new.csv,prices.csv -Value 1", "prices.csv"),
        ("Set-Content -Pa prices.csv 1", "prices.csv"),
        ("Set-Content -Path:prices.csv 1", "prices.csv"),
        ("Get-Date | Out-File -Encoding utf8 .\\out\\prices.csv", "./out/prices.csv"),
        ("$t | Export-Csv -NoTypeInformation prices.csv", "prices.csv"),
        ("$t | Tee-Object -FilePath prices.csv", "prices.csv"),
        ("if (3 -gt 2) { Get-Date > prices.csv }", "prices.csv"),
        ("Get-Date *> 'my file'", "my file"),
        ('$name = "prices"; Get-Date > "$name.csv"', "prices.csv"),
        ("$file = Join-Path out prices.csv; Set-Content $file 1", "out/prices.csv"),
        ("Set-Content (Join-Path 'out' 'prices.csv') 1", "out/prices.csv"),
        ("Set-Content $PWD/prices.csv 1", "./prices.csv"),
        ("Copy-Item new.csv prices.csv", "prices.csv"),
        ("Copy-Item -Path prices.csv -Destination out", "out/prices.csv"),
        ("Move-Item new.csv prices.csv -Force", "prices.csv"),
        ("New-Item -ItemType File -Force prices.csv", "prices.csv"),
        ("iwr http://x.example/a -OutFile prices.csv", "prices.csv"),
        ("Compress-Archive out prices.csv -Update", "prices.csv"),
        ('[IO.File]::WriteAllText("prices.csv", "x")', "prices.csv"),
        ("[System.IO.File]::Copy('a', 'prices.csv', $true)", "prices.csv"),
        ("$w = [System.IO.StreamWriter]::new('prices.csv')", "prices.csv"),
        ("$w = New-Object System.IO.StreamWriter 'prices.csv'", "prices.csv"),
    ],
)
def test_powershell_that_replaces_a_file_says_which(code: str, name: str, place: Path) -> None:
    assert overwritten("powershell", code, place) == [name]
    assert not [
        item for item in judge("powershell", code, place).found if item.kind == "writes" and not item.what
    ]


@pytest.mark.parametrize(
    ("code", "facts"),
    [
        ("Get-Date | Out-File -FilePath prices.csv -Append", "writes files: prices.csv"),
        ("$t | Export-Csv prices.csv -NoClobber", "writes files: prices.csv"),
        ("Get-Date >> prices.csv", "writes files: prices.csv"),
        ("Add-Content prices.csv 1", "writes files: prices.csv"),
        ("New-Item prices.csv", "writes files: prices.csv"),
        ("[IO.File]::AppendAllText('prices.csv', 'x')", "writes files: prices.csv"),
        ("New-Object IO.StreamWriter('prices.csv', $true)", "writes files: prices.csv"),
        ("Set-Content new.csv 1", "writes files: new.csv"),
        ("Set-Content $name 1", "writes files"),
        ("Set-Content $row.Name 1", "writes files"),
        ("Set-Content ~/new.csv 1", "writes outside of the folder: ~/new.csv (line 1)"),
    ],
)
def test_powershell_that_adds_to_a_file_or_makes_one_replaces_nothing(
    code: str, facts: str, place: Path
) -> None:
    assert judge("powershell", code, place).sentences == [facts]


def test_output_of_powershell_that_is_thrown_away_is_no_file(place: Path) -> None:
    code = "Write-Output 1 2> $null\nWrite-Output 1 2>&1 >$null"
    assert judge("powershell", code, place).sentences == []
