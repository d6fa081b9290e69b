"""Code runs under the grant for code without findings only if every part of it is known to be harmless."""
# ruff: noqa: E501, RUF001 -- tables of code, some of it made to deceive

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from oi_tui.engine.events import ApprovalRequested, Run
from oi_tui.engine.review.earlier_code import EarlierCode
from oi_tui.engine.review.findings import Finding
from oi_tui.engine.review.folder import LocalFolder
from oi_tui.engine.review.permissions import Permission, Permissions, list_offers
from oi_tui.engine.review.readable_files import explain_unreadable
from oi_tui.engine.review.scanner import scan_code
from oi_tui.engine.review.shell import checker as shell_checker
from oi_tui.text import list_hidden_characters
from tests.fakes import call
from tests.unit.engine.test_session import make, run_turn, select


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working directory with plain data, private files, and links that lead out of it."""
    place = tmp_path_factory.mktemp("work")
    (place / "a.csv").write_text("x,y\n1,2\n3,4\n")
    (place / "b.txt").write_text("one\ntwo\n")
    (place / "data").mkdir()
    (place / "data" / "c.csv").write_text("x\n1\n")
    (place / ".env").write_text("KEY=1")
    (place / "server.pem").write_text("-----")
    (place / "keys").mkdir()
    (place / "keys" / "my_secret.txt").write_text("s")
    (place / "out").symlink_to("/etc/passwd")
    (place / "private").symlink_to(".env")
    (place / "up").symlink_to("..")
    return place


def nothing_listed(language: str, code: str, cwd: Path, *before: str) -> bool:
    earlier = EarlierCode()
    for item in before:
        earlier.add(language, item, cwd)
    covered = Permission("unremarkable", language).covers(language, code, cwd, earlier)
    assert covered == (
        scan_code(language, code, cwd, earlier).nothing_listed and not list_hidden_characters(code)
    )
    return covered


HARMLESS_SHELL = r"""
ls
ls -la
ls -l data
ls *.csv
ls a.csv b.txt
ls *.pem
cat dat*
cat a.csv
cat a.csv b.txt | sort | uniq -c | sort -rn | head -5
cat a*.csv
cat data/c.csv
cat data/*.csv
head -n 2 a.csv
head -2 a.csv
tail -n +2 a.csv
tail -1 a.csv
wc -l a.csv
wc -l data/c.csv b.txt
sort -t , -k 2 -n a.csv
sort -u b.txt
uniq -c b.txt
grep one b.txt
grep -n 'o$' b.txt
grep -c "one" b.txt && echo found
grep -i -v ONE b.txt
grep /x a.csv
egrep /x a.csv b.txt
fgrep /x a.csv
cut -d , -f 1 a.csv
cut -d, -f1 a.csv
tr a-z A-Z
cat b.txt | tr 'a-z' 'A-Z'
sed -n 1,2p b.txt
sed -n '2p' b.txt
sed 's/one/two/g' b.txt
sed '$d' b.txt
sed -E 's/o+/0/' b.txt
nl b.txt
tac b.txt
rev b.txt
paste -s b.txt
cmp a.csv b.txt
diff -u a.csv b.txt
md5sum a.csv
sha256sum a.csv
stat a.csv
du -sh data
df -h
find . -name '*.csv'
find . -type f -name "*.csv" -maxdepth 2
find data -type f -print
find . -name '/etc'
echo hi
echo -n hi
echo "it's fine"
echo 'rm -rf $(x)'
echo '$HOME `x` ${x}'
echo hi; echo there
echo "a\nb"
echo *
echo 1 2>/dev/null
echo 1 >/dev/null 2>&1
echo 1 >&2
ls nothing 2>/dev/null || echo none
printf '%s %s' a b
printf "%s\n" a
pwd
date
date +%Y-%m-%d
date '+%H:%M'
date -u
test -f a.csv && echo yes
[ -d data ] && echo yes
[ a = b ] || echo no
[ -n x ]
true
false || true
basename data/c.csv
basename data/c.csv .csv
dirname data/c.csv
seq 3
seq 1 2 9
sleep 0.01
uname -a
whoami
id -u
hostname
nproc
python3 --version
git --version
# only words: rm -rf $(x)
ls # and words
  ls
echo "é" | cat
""".strip("\n").split("\n")

LISTED_SHELL = r"""
rm a.csv
rm${IFS}a.csv
{rm,a.csv}
$(echo rm) a.csv
`echo rm` a.csv
a=rm; $a a.csv
trap 'rm a.csv' EXIT
trap 'rm a.csv' DEBUG
alias ls='rm a.csv'; ls
ls() { rm a.csv; }; ls
function ls { rm a.csv; }
perl -e 'unlink "a.csv"'
awk 'BEGIN{system("rm a.csv")}'
sed -n '1e rm a.csv' b.txt
sed '1w x' b.txt
sed 's/one/touch x/e' b.txt
sed 's/one/two/w x' b.txt
sed -i s/one/two/ b.txt
sed -n -e 1p -e '1e touch x' b.txt
sed --in-place s/a/b/ b.txt
sed -f b.txt a.csv
busybox rm a.csv
toybox rm a.csv
LD_PRELOAD=x ls
PATH=. ls
A=1
./x
../x
/bin/ls
make
git checkout .
git status
git diff
git log
git -c core.pager='touch x' log
printenv
env
set
export
declare -p
docker run x
python3 x.py
python3 -c 'open("x", "w")'
node -e 1
bash -c 'rm a.csv'
sh x.sh
. ./x
source x
eval 'rm a.csv'
exec rm a.csv
command rm a.csv
builtin eval x
xargs rm
find . -delete
find . -exec rm {} \;
find . -fprint x
find . -fls x
find . -ok rm {} +
find . -name *.csv
find / -name x
find .. -name x
sort -o x a.csv
sort -ox a.csv
sort --output=x a.csv
sort --compress-program=x a.csv
sort *.csv
sort -T x a.csv
uniq a.csv x
uniq a*
uniq -c a.csv x
uniq - x
sort a.csv | uniq -c - x
grep - /etc/passwd
grep -c - .env
diff - a.csv b.txt
tee x
echo hi > x
echo hi >> x
echo hi >| x
echo hi &> x
echo hi >& x
echo hi 2> x
echo hi >x
>x
> x
: > x
echo hi >/dev/nullx
echo hi >/dev/null/../x
echo hi > /dev/sda
echo hi 3>/dev/null
echo hi 0>&1
cat < /etc/passwd
cat << EOF
cat <<< x
cat <(ls)
echo $(rm a.csv)
echo "$(rm a.csv)"
echo "`rm a.csv`"
echo ${x:=1}
echo $HOME
echo "$API_KEY"
echo $((1+1))
echo $'a'
echo ~
echo \a
echo "\$x"
echo a\
rm a.csv
ls &
ls & rm a.csv
ls &rm a.csv
ls;rm a.csv
ls&&rm a.csv
ls || rm a.csv
ls | sh
ls |& cat
ls ;; ls
; ls
ls |
ls &&
| ls
(ls)
{ ls; }
! ls
!!
!ls
time ls
coproc ls
[[ -f a.csv ]]
if true; then rm a.csv; fi
for x in a; do rm a.csv; done
while true; do ls; done
case x in x) ls;; esac
select x in a; do ls; done
until ls; do ls; done
*
a*
?s
'ls'
"ls"
l's'
=ls
ls =rm
*(e:'rm a.csv':)
echo *(e:'rm a.csv':)
echo a(N)
echo ${(e)x}
() { rm a.csv }
ls -D
ls --help
cat --help
cat -x
cat /etc/passwd
cat ../x
cat data/../../x
cat ~/.ssh/id_rsa
cat - /etc/passwd
test -v a
test -f 'a b'
[ a = 'x y' ]
[ 'x y' = a ]
seq 1 x
printf '%n' a
echo a[
echo a]
cat .env
cat ./.env
cat server.pem
cat *.pem
cat *
cat keys/my_secret.txt
cat keys/*
cat .*
cat out
cat private
cat up/x
cat /dev/sda
cat /proc/self/environ
cat '/etc/passwd'
cat "/etc/passwd"
cat */*
ls /
ls ~
ls ..
grep -r x .
grep -rn KEY
grep -f .env a.csv
grep x .env
egrep x .env
fgrep x .env
egrep x a.csv .env
grep -R x .
grep --include=x y
head -n
head --bytes=3 a.csv
wc --files0-from=a.csv
date -s 2020-01-01
date 01010000
date --set=x
date -f x
hostname evil
printf -v PATH x
printf %d 'a[$(rm a.csv)]'
printf *
printf '%n'
test -v 'a[$(rm a.csv)]'
test 1 -eq 'a[$(rm a.csv)]'
[ 1 -eq 1 ]
[ -f
cd ..
cd data
cd /
pushd data
kill 1
sudo ls
su
ssh x
curl x
wget x
nc x
pip install x
apt install x
npm i
touch x
mkdir x
cp a.csv x
mv a.csv x
ln -s a x
chmod +x x
dd of=x
tar xf x
unzip x
vi x
less a.csv
man ls
sqlite3 x
jq . a.csv
jq -n env
tree -o x
tree
split a.csv
mapfile x
read x
unset PATH
hash -p x ls
enable -n ls
ulimit -n 1
umask 0
shopt -s x
setopt x
zmodload x
autoload x
bind -x x
complete -C x ls
history
fc -s
wait
exit
return
logout
unknown_command
ps aux
tail -f a.csv
tail -F a.csv
tail --follow a.csv
stat -f x /
du -sh /
cmp a.csv /etc/passwd
diff -r a b
seq x
sleep infinity
python3 --version x
git --version --help
ls '
echo "
echo 'a
echo a"b
LS
ｌｓ
echo​ x
ls é
""".strip("\n").split("\n")

ODD = [
    "ls\rrm x",
    "ls\frm x",
    "ls\0rm x",
    "ls\x1b",
    "echo '\n$ rm x\n'",
    "echo \ud800",
    "echo '\ud800'",
    "echo '\udfff'",
    "ls \\\n-la",
]


@pytest.mark.parametrize("code", HARMLESS_SHELL)
def test_harmless_shell_is_not_listed(code: str, folder: Path) -> None:
    assert scan_code("shell", code, folder).sentences == []
    assert nothing_listed("shell", code, folder)


@pytest.mark.parametrize("code", [*LISTED_SHELL, *ODD])
def test_other_shell_is_listed(code: str, folder: Path) -> None:
    for language in ("shell", "bash", "zsh", "sh"):
        assert not nothing_listed(language, code, folder)
    assert scan_code("shell", code, folder).sentences


@pytest.mark.parametrize(
    ("code", "what", "line"),
    [
        ("ls $x", "$x", 1),
        ("ls\n\nls $x y\nls", "$x y", 3),
        ("ls " + "$" * 50, "$" * 39 + "…", 1),
        ("| ls", "|", 1),
        ("ls\nls |", "the end of the code", 2),
        ("ls\n> x", "> x", 2),
        ("ls\n2>&1 ls", "a redirection in front", 2),
        ("ls\n\nrm a", "rm", 3),
        ("ls --strange a.csv", "ls --strange a.csv", 1),
        ("test 1 " + "x" * 50, "test 1 " + "x" * 32 + "…", 1),
        ("ls\ncat ''", "an empty name", 2),
        ("#" * 100_001, "code of this length", 1),
        ("ls\necho \ud800", "characters that are no text", 1),
    ],
)
def test_shell_that_is_not_understood_is_named_with_its_line(
    code: str, what: str, line: int, folder: Path
) -> None:
    assert list(shell_checker.check(code, LocalFolder(folder))) == [Finding("not understood", what, line)]


def test_the_longest_shell_code_that_is_read_is_read(folder: Path) -> None:
    assert list(shell_checker.check("#" * 100_000, LocalFolder(folder))) == []


SHELLS = ("bash", "zsh", "dash")


def state_of(folder: Path) -> dict[str, tuple[str, int, bytes]]:
    found = {}
    for path in sorted(folder.rglob("*")):
        about = path.lstat()
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        found[str(path)] = (os.readlink(path) if path.is_symlink() else "", about.st_mode, content)
    return found


@pytest.mark.needs("grep", "egrep", "fgrep", "uniq")
@pytest.mark.parametrize("shell", SHELLS)
def test_shell_that_is_not_listed_changes_nothing_when_it_really_runs(shell: str, folder: Path) -> None:
    before, home = state_of(folder), Path(os.environ["HOME"])
    at_home = state_of(home)
    code = "\n".join(item for item in HARMLESS_SHELL if nothing_listed("shell", item, folder))
    done = subprocess.run([shell], input=code, cwd=folder, text=True, capture_output=True, timeout=60)
    assert "one" in done.stdout
    assert "not found" not in done.stderr
    assert state_of(folder) == before
    assert state_of(home) == at_home


HARMLESS_PYTHON = [
    "print(1)",
    "1 + 1",
    "x = 5\nx * 2",
    "x: int = 5",
    "a, *b = 1, 2, 3\nprint(a, b)",
    "total = 0\nfor i in range(10):\n    total += i\nelse:\n    print(total)",
    "while False:\n    pass",
    "if True:\n    x = 1\nelif x:\n    x = 2",
    "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    print(e)\nfinally:\n    print(2)",
    "def f(x, *rest, y=2, **more):\n    '''Doc.'''\n    return x + y\nprint(f(1, y=3))",
    "def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\nfib(5)",
    "def g():\n    yield 1\n    yield from [2]\nlist(g())",
    "[x * 2 for x in range(3) if x]",
    "{k: v for k, v in zip('ab', [1, 2])}",
    "{x for x in 'aab'}",
    "sum(x for x in range(3))",
    "sorted(['b', 'a'], key=len, reverse=True)",
    "sorted([{'a': 1}], key=lambda x: x['a'])",
    "list(map(str.upper, ['a']))",
    "list(map(lambda x: x + 1, [1]))",
    "(lambda x: x)(1)",
    "print(f'{1 + 1:>{5}} {2!r}')",
    "'{} {:.2f} {name}'.format(1, 2.0, name='x')",
    "'%s' % 1",
    "', '.join(str(x) for x in [1])",
    "'a b'.split()[0].upper().strip()",
    "d = {}\nd['a'] = 1\ndel d['a']\nd.get('a', 0)",
    "xs = [1]\nxs.append(2)\nxs.extend([3])\nxs.pop()",
    "print(*[1, 2], sep=', ', end='')",
    "{**{'a': 1}}",
    "assert 1 == 1, 'no'",
    "raise ValueError('x')",
    "type(1) is int\nprint(type(1).__name__)",
    "if __name__ == '__main__':\n    print(1)",
    "match 1:\n    case 1 | 2:\n        print(1)\n    case [a, *b] if a:\n        print(a)\n    case {'k': v, **r}:\n        print(v)",
    "(y := 5)\nprint(y)",
    "isinstance(1, (int, float))",
    "import math\nmath.sqrt(2) + math.pi",
    "from math import sqrt as root\nroot(2)",
    "import statistics as st\nst.mean([1, 2])",
    "import json\njson.dumps({'a': 1}, indent=2)\njson.loads('{}')",
    "import re\nre.sub(r'a', 'b', 'abc')\nre.findall('a', 'a')",
    "from datetime import datetime, timedelta\nprint(datetime.now() - timedelta(days=1))",
    "import datetime as dt\ndt.datetime.strptime('2024', '%Y').strftime('%d')",
    "from collections import Counter, defaultdict\nc = Counter('aab')\nc.most_common(1)\nd = defaultdict(list)\nd[1].append(2)",
    "import itertools\nlist(itertools.chain.from_iterable([[1]]))",
    "import random\nrandom.seed(1)\nrandom.choice([1, 2])",
    "import functools\nfunctools.reduce(lambda a, b: a + b, [1, 2])",
    "from typing import List\ndef f(x: List[int]) -> int:\n    return sum(x)",
    "import os\nprint(os.getcwd(), os.path.join('a', 'b'))",
    "import os\nfor name in os.listdir('.'):\n    print(name, os.path.getsize(name))",
    "import os\nfor name in os.listdir('.'):\n    print(os.path.relpath(name), os.lstat(name).st_size, os.path.getmtime(name))",
    "import os\nos.listdir()",
    "import glob\nglob.glob('data/*.csv')",
    "import sys\nprint(sys.version)",
    "import subprocess",
    "import matplotlib.pyplot as plt",
    "import pandas as pd\nimport numpy as np",
    "import pandas as pd\ndf = pd.read_csv('a.csv')\ndf.head()",
    "import pandas as pd\ndf = pd.read_csv('data/c.csv', sep=',', parse_dates=['x'])\nprint(df.describe())",
    "import pandas as pd\ndf = pd.DataFrame({'a': [1]})\ndf['b'] = df['a'] * 2\ndf[df.a > 1].groupby('a')['b'].mean().sort_values()",
    "import pandas as pd\ndf = pd.DataFrame({'a': [1]})\ndf.groupby('a').agg({'b': ['mean', 'max']}).reset_index()",
    "import pandas as pd\ndf = pd.DataFrame({'a': [1]})\ndf.groupby('a').agg(total=('a', 'sum'), n=('a', len))",
    "import pandas as pd\ndf = pd.DataFrame({'a': [1]})\ndf.apply(lambda r: r.a + 1, axis=1)\ndf.agg('sum')",
    "import pandas as pd, numpy as np\npd.DataFrame({'a': [1]}).agg(np.mean)",
    "import pandas as pd\npd.DataFrame().pivot_table(index='a', values='b', aggfunc='sum')",
    "import pandas as pd\npd.to_datetime(pd.Series(['2024-01-01'])).dt.year",
    "import pandas as pd\ndf = pd.DataFrame().assign(x=1, y=lambda d: d['x'])\ndf.to_string()\ndf.info()",
    "import io, pandas as pd\npd.read_csv(io.StringIO('a,b\\n1,2'))",
    "import numpy as np\na = np.arange(6).reshape(2, 3)\nprint(a.mean(axis=0), np.linalg.norm(a), a.T @ a)",
    "import numpy as np\nnp.random.default_rng(1).normal(size=3)",
    "import pandas as pd\ndf = pd.DataFrame()\ndf.filter(['a'])\ndf.filter(like='a')\ndf.groupby('a').filter(lambda g: len(g))",
    "import pandas as pd\ndf = pd.DataFrame({'a': [1]})\ndf.columns = ['b']\ndf.index.name = 'i'",
    "from pathlib import Path\nprint(Path.cwd() / 'a', Path('a.csv'))",
    "open('a.csv').read()",
    "with open('b.txt', encoding='utf-8') as f:\n    for line in f:\n        print(line.strip())",
    "import csv\nwith open('a.csv', newline='') as f:\n    rows = list(csv.DictReader(f))\nprint(rows[0]['x'])",
    "import json\nwith open('b.txt', 'r') as f:\n    json.load(f)",
    "with open('b.txt') as f:\n    f.readline()\n    print(f.tell())\n    f.seek(0)",
    "# only words: os.remove('x')",
    "",
]  # fmt: skip
#: They use libraries and names that need not be there.
HARMLESS_SCIENCE = [
    "df.plot()",
    "df.hist()",
    "df.plot(kind='bar', figsize=(8, 4), ax=ax)",
    "df.Year.max()",
    "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()",
    "import matplotlib.pyplot as plt\nfig, axes = plt.subplots(2, 2)\nfor ax in axes.flat:\n    ax.scatter([1], [2], c='r', s=3)\n    ax.set_title('x')",
    "import matplotlib.pyplot as plt\nplt.figure(figsize=(8, 4))\nplt.bar(df.index, df['a'], color='C1')\nplt.xticks(rotation=45)\nplt.tight_layout()",
    "import matplotlib.pyplot as plt\nplt.title('x', fontdict={'fontsize': 9})\nplt.pie([1, 2], textprops=dict(color='w'), autopct='%d')",
    "import matplotlib.pyplot as plt\nplt.subplots(subplot_kw={'projection': 'polar'})",
    "import matplotlib.pyplot as plt\nplt.style.use('ggplot')\nplt.rcParams['figure.figsize'] = (15, 5)\nplt.rcParams['font.size']",
    "d = {}\nd.update({'a': 1})\ns = set()\ns.update(['a'])\ns.update(x for x in 'ab')\ns.update(sorted(d))\ns.update('abc')",
    "import matplotlib.pyplot as plt\nplt.rcParams.update({'axes.grid': True, 'savefig.dpi': 150})\nplt.rc('axes', grid=True, titlesize=9)",
    "import matplotlib\nmatplotlib.use('Agg')\nmatplotlib.rcParams['lines.linewidth'] = 2",
    "from matplotlib import pyplot as plt, rcParams\nrcParams['figure.dpi'] = 120\nplt.imshow([[1]], cmap=plt.cm.viridis)",
    "import matplotlib.dates as mdates\nax.xaxis.set_major_formatter(mdates.DateFormatter('%b'))",
    "from matplotlib.ticker import FuncFormatter\nax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f'{v:,.0f}'))",
    "import seaborn as sns\nsns.set_theme(style='whitegrid', rc={'figure.figsize': (8, 4)})\nsns.barplot(data=df, x='a', y='b', hue='c')",
    "import seaborn as sns\nsns.heatmap(df.corr(), annot=True, cmap='coolwarm', annot_kws={'size': 8})",
    "import seaborn as sns\nsns.set_style('white')\nsns.set_context('talk', 1.5)\nsns.set_style({'axes.grid': True})",
    "import seaborn as sns\nwith sns.axes_style('darkgrid'):\n    sns.histplot(df['a'])",
    "df.hist('a', None, True)\nax.hist(df['a'], 10)\nax.text(0, 0, 'x', fontsize=9)\nax.set_title('x'.title())",
    "import pandas as pd\npd.set_option('display.max_rows', 10, 'display.width', 120)\npd.reset_option('max_rows')",
    "import pandas as pd\nbefore = pd.options.display.max_rows\npd.options.display.max_rows = 20\npd.options.display.max_rows = before",
    "import numpy as np\nnp.set_printoptions(precision=3, suppress=True)\nnp.random.standard_normal(3)\nnp.c_[x, y]",
    "import pandas as pd\npd.crosstab(df['a'], df['b'], normalize=True)\npd.MultiIndex.from_product([[1], [2]])",
    "from pandas.tseries.offsets import MonthEnd\nd + MonthEnd(2)",
    "from IPython.display import display, Markdown\ndisplay(df)\ndisplay(Markdown('**x**'))",
    "df.query('a > 1 and b == \"x\" or `a b` in [1, 2]')\ndf.eval('a + b * 2')",
    "from IPython.display import Markdown, Latex\nMarkdown(f'## {x} rows')\nMarkdown('Mean: ' + str(x))\nLatex(r'$%s$' % x)",
    "from IPython.display import Math\nMath('x = {}'.format(x))\nMath(data='x^2')",
    "from scipy import stats\nt, p = stats.ttest_ind(a, b, equal_var=False)\nstats.norm.cdf(1.96)",
    "from sklearn.model_selection import train_test_split\nfrom sklearn.linear_model import LinearRegression\nX_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=1)\nmodel = LinearRegression().fit(X_train, y_train)\nprint(model.coef_, model.score(X_test, y_test))",
    "import pandas as pd\npd.read_csv('a.csv', sep=r'\\s+', engine='python')",
    "from zoneinfo import ZoneInfo\nfrom datetime import datetime\ndatetime.now(ZoneInfo('Asia/Tokyo'))",
    "f = lambda x: x * 2\nprint(f(2))\ndf['a'].apply(f)",
    "%matplotlib inline\nimport math",
    "%config InlineBackend.figure_format = 'retina'",
    "x = 1\n%time x + 1\n%timeit -n 3 -r 2 x * 2",
    "%%time\nx = 1\nprint(x)",
]  # fmt: skip

LISTED_PYTHON = [
    "open('canary', 'w')",
    "open('canary', mode='a')",
    "open('canary', 'r+')",
    "open('canary', *['w'])",
    "open('canary', **{'mode': 'w'})",
    "m = 'w'\nopen('canary', m)",
    "open('a.csv', opener=print)",
    "open('a.csv', 'rb', 0)",
    "open('/etc/passwd').read()",
    "open('../x')",
    "open('.env')",
    "open('server.pem')",
    "open('keys/my_secret.txt')",
    "open('data')",
    "open('out')",
    "open('private')",
    "open('up/x')",
    "open('~/x')",
    "open('')",
    "open()",
    "open(0)",
    "open(__file__)",
    "name = 'a.csv'\nopen(name)",
    "open(f'{1}.csv')",
    "open('a' + '.csv')",
    "import os\nos.remove('x')",
    "import os\nos.system('x')",
    "import os\nf = os.system\nf('rm x')",
    "import os as o\no.popen('x')",
    "from os import system\nsystem('x')",
    "from os import system as print\nprint('x')",
    "from os import *",
    "import os\nprint(os.environ)",
    "import os\nos.environ['X'] = '1'",
    "import os\nos.listdir('/')",
    "import os\nos.listdir('..')",
    "import os\nd = '/'\nos.listdir(d)",
    "import glob\nglob.glob('/etc/*')",
    "import glob\nglob.glob('**', recursive=True)",
    "import sys\nsys.modules['os'].system('x')",
    "import sys\nsys.path.insert(0, 'x')",
    "import sys\nsys.exit()",
    "import pathlib\npathlib.os.remove('x')",
    "from pathlib import Path\nPath('x').unlink()",
    "from pathlib import Path\np = Path('x')\np.touch()",
    "from pathlib import Path\nPath('a.csv').read_text()",
    "from pathlib import Path\nxs = [Path('a')]\nxs[0].rename('b')",
    "from pathlib import Path\nfor p in Path('.').iterdir():\n    p.replace('b')",
    "from pathlib import Path\nPath('a').rename('b')",
    "from pathlib import Path\nPath('a').replace('b')",
    "import subprocess\nsubprocess.run(['ls'])",
    "import subprocess as s\nlist(map(s.call, ['x']))",
    "import shutil\nshutil.copy('a', 'b')",
    "import pip\npip.main(['install', 'x'])",
    "import importlib\nimportlib.import_module('os')",
    "__import__('os')",
    "__builtins__",
    "import builtins",
    "import ctypes",
    "import this.x",
    "import antigravity",
    "import helper",
    "from . import x",
    "import pickle\npickle.loads(b'')",
    "eval('1')",
    "exec('1')",
    "compile('1', '', 'exec')",
    "globals()['x'] = 1",
    "locals()",
    "vars()",
    "getattr(1, 'real')",
    "setattr(1, 'a', 2)",
    "delattr(1, 'a')",
    "input('x')",
    "help(1)",
    "breakpoint()",
    "exit()",
    "get_ipython().system('x')",
    "get_ipython().run_line_magic('run', 'x.py')",
    "get_ipython().run_cell('x')",
    "get_ipython().events.register('pre_execute', print)",
    "get_ipython().user_ns['print'] = input",
    "().__class__.__base__.__subclasses__()",
    "x = 1\nx.__class__",
    "print.__self__",
    "(lambda: 0).__globals__",
    "(x for x in []).gi_frame.f_globals.get('x')",
    "print((x for x in []).gi_frame.f_globals['x']('rm'))",
    "'{0.__class__}'.format(1)",
    "'{0[a]}'.format({})",
    "'{:{}}'.format(1, 2)",
    "t = '{}'\nt.format(1)",
    "str.format('{0.a}', 1)",
    "'{a}'.format_map({})",
    "type('X', (), {})",
    "type(open('a.csv', 'rb'))('canary', 'w')",
    "list(map(type(open('a.csv', 'rb')), ['canary'], ['w']))",
    "t = type(1)\nt('x')",
    "list(map(llm, ['a']))",
    "x = llm_map\nprint(sorted([1], key=x))",
    "class X(y.Y):\n    pass",
    "class X(metaclass=type):\n    pass",
    "@print\ndef f():\n    pass",
    "async with x:\n    pass",
    "await x()",
    "def f():\n    import os\n    os.remove('x')",
    "lambda: __import__('os')",
    "def f(x=eval('1')):\n    pass",
    "def f(x: eval('1')):\n    pass",
    "def f(g):\n    g('x')\nf(open)",
    "f = print\nf('x')",
    "[print][0]('x')",
    "list(map(open, ['canary'], ['w']))",
    "[0 for open in [1]]\nlist(map(open, ['canary'], ['w']))",
    "def f(open):\n    pass\nlist(map(open, ['canary'], ['w']))",
    "for exec in [1]:\n    pass",
    "import builtins as print\nprint.exec('1')",
    "print(1, file=x)",
    "print(1, **{'file': x})",
    "x.y = 1",
    "import math\nmath.sqrt = print",
    "import math\nmath.name = print",
    "import numpy as np\na = np.array([1])\na.strides = 99",
    "import numpy as np\na = np.array([1])\na.dtype = object",
    "df.columns = df.to_csv",
    "df.columns.x.y = 1",
    "df.__class__ = 1",
    "for x.y in [1]:\n    pass",
    "with x as y.z:\n    pass",
    "x.y += 1",
    "del x.y",
    "import math\nx = math",
    "import math\n[math]",
    "import statistics\nstatistics.sys.modules",
    "import random\nrandom._os.system('x')",
    "import random\nrandom.SystemRandom",
    "import string\nstring.Formatter().format('{0.a}', 1)",
    "import functools\nfunctools.partial(print)(1)",
    "import json\njson.loads('{}', object_hook=print)",
    "import json\njson.dump({}, open('canary', 'w'))",
    "import pandas as pd\npd.read_pickle('a.csv')",
    "import pandas as pd\npd.read_csv('/etc/passwd')",
    "import pandas as pd\npd.read_csv('https://a.example/x.csv')",
    "import pandas as pd\npd.read_csv('file:///etc/passwd')",
    "import pandas as pd\npd.read_csv('simplecache::a.csv')",
    "import pandas as pd\npd.read_csv('a.csv', converters={'x': print})",
    "import pandas as pd\npd.read_csv('a.csv', storage_options={})",
    "import pandas as pd\npd.read_csv('a.csv', engine=x)",
    "df.rolling(2).sum(engine='numba')",
    "import pandas as pd\npd.read_csv('a.csv', ',')",
    "import pandas as pd\nlist(map(pd.read_csv, ['/etc/passwd']))",
    "import pandas as pd\npd.read_html('x')",
    "import pandas as pd\npd.read_sql('x', 'sqlite:///x')",
    "import pandas as pd\npd.eval('1')",
    "import pandas as pd\npd.io.common.os.system('x')",
    "import pandas as pd\npd.set_option('plotting.backend', 'x')",
    "import pandas as pd\ndf = pd.DataFrame()\ndf.to_csv('canary')",
    "import pandas as pd\npd.DataFrame.to_csv(pd.DataFrame(), 'canary')",
    "df.to_csv('canary')",
    "df.to_pickle('canary')",
    "df.to_sql('t', 'sqlite:///x')",
    "df.to_clipboard()",
    "df.to_string('canary')",
    "df.to_string(buf='canary')",
    "df.to_markdown('canary')",
    "df.info(buf=1)",
    "df.query('@a')",
    "df.eval('a()')",
    "df.pipe(print)",
    "df.plot(backend='x')",
    "df.agg('to_pickle', 0, 'canary')",
    "df.agg('to_csv')",
    "df.agg(x)",
    "df.agg(['sum', 'to_csv'])",
    "df.agg({'a': 'to_csv'})",
    "df.agg({**x})",
    "df.agg(func='to_csv')",
    "df.agg(func='sum')",
    "df.agg(total=('a', 'to_csv'))",
    "df.agg(total='to_csv')",
    "df.agg(**x)",
    "df.agg()",
    "df.apply('to_csv', args=('canary',))",
    "df.apply('sum', axis=x)",
    "df.transform('to_csv')",
    "df.groupby('a')['b'].filter('to_csv', True, 'canary')",
    "df.filter('to_csv')",
    "df.filter(x)",
    "df.filter(func='to_csv')",
    "df.pivot_table(aggfunc='to_csv')",
    "df.pivot_table('a', 'b', 'c', 'to_csv')",
    "f = df.agg\nf('to_csv')",
    "list(map(df.agg, ['to_csv']))",
    "[df.to_csv][0]('canary')",
    "x = {'f': df.to_csv}\nx['f']('canary')",
    "x = df.to_csv\nx('canary')",
    "list(map(df.to_csv, ['canary']))",
    "s = df.apply(lambda r: r.to_csv, axis=1)",
    "def f(d):\n    return d.to_csv\nlist(map(f(df), ['canary']))",
    "def f(d):\n    yield d.to_csv",
    "xs = []\nxs.append(df.to_csv)",
    "xs = [0]\nxs[0] = df.to_csv",
    "xs = {}\nxs.update(a=df.to_csv)",
    "import numpy as np\nnp.load('x', allow_pickle=True)",
    "import numpy as np\nnp.save('canary', 1)",
    "import numpy as np\nnp.array([1]).tofile('canary')",
    "import numpy as np\nnp.array([1]).dump('canary')",
    "import numpy as np\nnp.genfromtxt('https://a.example')",
    "import numpy as np\nnp.ctypeslib.load_library('x', '.')",
    "import numpy as np\nnp.memmap('canary', mode='w+')",
    "import matplotlib.pyplot as plt\nplt.savefig('canary')",
    "import matplotlib.pyplot as plt\nplt.title('x', usetex=True)",
    "import matplotlib.pyplot as plt\nlist = dict\nplt.title('x').update(list([['usetex', True]]))",
    "import matplotlib.pyplot as plt\nplt.title('x').update({'usetex': True})",
    "import matplotlib.pyplot as plt\nplt.title('x').update({'use' + 'tex': True})",
    "import matplotlib.pyplot as plt\nplt.title('x').update(dict([['usetex', True]]))",
    "import matplotlib.pyplot as plt\nplt.title('x').update(*[{'usetex': True}])",
    "import matplotlib.pyplot as plt\nplt.title('x').update({**{'usetex': True}})",
    "import matplotlib.pyplot as plt\nlist(map(plt.title('x').update, [{'usetex': True}]))",
    "import matplotlib.pyplot as plt\nt = plt.title('x')\nf = t.update\nf({'usetex': True})",
    "import matplotlib.pyplot as plt\nplt.title('x', fontdict={'usetex': True})",
    "import matplotlib.pyplot as plt\nplt.title('x', fontdict=dict(usetex=True))",
    "import matplotlib.pyplot as plt\nplt.gca().xaxis.set_label_text('x', {'usetex': True})",
    "import matplotlib.pyplot as plt\nlist(map(plt.title, ['x'], [{'usetex': True}]))",
    "import matplotlib.pyplot as plt\nlist(map(plt.gca().set_title, ['x'], [{'usetex': True}]))",
    "from matplotlib.pyplot import title as t\nlist(map(t, ['x'], [{'usetex': True}]))",
    "import matplotlib.pyplot as plt, functools\nfunctools.reduce(plt.title, ['x', {'usetex': True}])",
    "import matplotlib.pyplot as plt, itertools\nlist(itertools.starmap(plt.title, [('x', {'usetex': True})]))",
    "import pandas as pd\nlist(map(pd.crosstab, [a], [b], [None], [c], [None], ['to_csv']))",
    "import seaborn as sns\nlist(map(sns.heatmap, [x], *[[None]] * 8, [{'usetex': True}]))",
    "import seaborn as sns, matplotlib.pyplot as plt\nsns.FacetGrid(d).map_dataframe(plt.title, {'usetex': True})",
    "from sklearn.feature_extraction.text import CountVectorizer\nCountVectorizer('filename').fit(['x'])",
    "from sklearn.cluster import AgglomerativeClustering\nAgglomerativeClustering(2, 'euclidean', 'x')",
    "from IPython.display import display\ndisplay({'text/html': '<script>x</script>'}, raw=True)",
    "import matplotlib.pyplot as plt\nplt.pie([1], textprops={**x})",
    "import matplotlib.pyplot as plt\nplt.pie([1], textprops=x)",
    "import matplotlib.pyplot as plt\nplt.subplots(subplot_kw={'canary': 1})",
    "import matplotlib.pyplot as plt\nplt.imread('/etc/passwd')",
    "import matplotlib.pyplot as plt\nplt.switch_backend('module://x')",
    "import matplotlib.pyplot as plt\nplt.style.use('canary')",
    "import matplotlib.pyplot as plt\nplt.style.use('https://a.example/x.mplstyle')",
    "import matplotlib.pyplot as plt\nplt.style.use({'text.usetex': True})",
    "import matplotlib.pyplot as plt\nplt.style.use(x)",
    "import matplotlib.pyplot as plt\nplt.style.context('ggplot')",
    "import matplotlib\nmatplotlib.use('module://canary')",
    "import matplotlib\nmatplotlib.use('agg', force=x)",
    "import matplotlib.pyplot as plt\nplt.rcParams['text.usetex'] = True",
    "import matplotlib.pyplot as plt\nplt.rcParams['figure.hooks'] = ['os:getcwd']",
    "import matplotlib.pyplot as plt\nplt.rcParams['axes.prop_cycle'] = 'x'",
    "import matplotlib.pyplot as plt\nplt.rcParams['backend'] = 'x'",
    "import matplotlib.pyplot as plt\nplt.rcParams['pgf.texsystem'] = 'x'",
    "import matplotlib.pyplot as plt\nplt.rcParams[x] = 1",
    "import matplotlib.pyplot as plt\nplt.rcParams['figure.dpi'] = open",
    "import matplotlib.pyplot as plt\nr = plt.rcParams\nr['text.usetex'] = True",
    "import matplotlib.pyplot as plt\nplt.rcParams.update({'text.usetex': True})",
    "import matplotlib.pyplot as plt\nplt.rcParams.update(x)",
    "import matplotlib.pyplot as plt\nplt.rcParams.update({'figure.dpi': 1, **x})",
    "import matplotlib.pyplot as plt\nplt.rcParams.update(figure=1)",
    "import matplotlib.pyplot as plt\nplt.rcParams.clear()",
    "import matplotlib.pyplot as plt\nplt.rc('text', usetex=True)",
    "import matplotlib.pyplot as plt\nplt.rc('figure', hooks=['os:getcwd'])",
    "import matplotlib.pyplot as plt\nplt.rc('axes', **x)",
    "import matplotlib.pyplot as plt\nplt.rc(x, grid=True)",
    "from matplotlib.pyplot import rc\nrc('text', usetex=True)",
    "from matplotlib import rcParams\nrcParams['text.usetex'] = True",
    "import seaborn as sns\nsns.set_theme(rc={'text.usetex': True})",
    "import seaborn as sns\nsns.set_style('white', x)",
    "import seaborn as sns\nsns.set_style({'figure.hooks': ['x:y']})",
    "import seaborn as sns\nsns.set_context({'figure.hooks': ['x:y']})",
    "import seaborn as sns\nsns.set_context(context={'figure.hooks': ['x:y']})",
    "import seaborn as sns\nsns.set_theme({'figure.hooks': ['x:y']})",
    "import seaborn as sns\nsns.set_theme(style={'figure.hooks': ['x:y']})",
    "import seaborn as sns\nsns.set_theme(*[{'figure.hooks': ['x:y']}])",
    "import seaborn as sns\nsns.set_theme('notebook', 'white', 'deep', 'serif', 1, True, {'text.usetex': True})",
    "import seaborn as sns\nwith sns.axes_style({'figure.hooks': ['x:y']}):\n    plt.figure()",
    "import seaborn as sns\nwith sns.plotting_context({'figure.hooks': ['x:y']}):\n    plt.figure()",
    "import seaborn as sns\ns = {'figure.hooks': ['x:y']}\nsns.set_style(s)",
    "import seaborn as sns\nsns.barplot(*[df, 'a', 'b', 'c', 'd', 'e', 'to_csv'])",
    "df.hist(None, None, True, None, None, None, None, None, False, False, None, None, 10, 'x')",
    "df.hist(*[None, None, True, None, None, None, None, None, False, False, None, None, 10, 'x'])",
    "df['a'].hist(None, None, True, None, None, None, None, None, 10, 'x')",
    "pd.DataFrame.hist(df, None, None, True, None, None, None, None, None, False, False, None, None, 10, 'x')",
    "df.boxplot(None, None, None, None, 0, True, None, None, None, 'x')",
    "df.groupby('a').boxplot(True, None, None, 0, True, None, None, None, False, True, 'x')",
    "import seaborn as sns\nlist(map(sns.set_context, [{'figure.hooks': ['x:y']}]))",
    "from seaborn import set_context\nlist(map(set_context, [{'figure.hooks': ['x:y']}]))",
    "from seaborn import axes_style\nlist(map(axes_style, [{'figure.hooks': ['x:y']}]))",
    "list(map(df.hist, [None], [None], [True], [None], [None], [None], [None], [None], [False], [False], [None], [None], [10], ['x']))",
    "import itertools\nlist(itertools.starmap(df.boxplot, [[None, None, None, None, 0, True, None, None, None, 'x']]))",
    "list(map(pd.DataFrame.hist, [df], [None]))",
    "list(map(df.groupby('a').hist, [None]))",
    "pd.crosstab(*[df.a, df.b, df.c, None, None, 'to_csv'])",
    "ax.set_title('x', {'usetex': True})",
    "ax.set_xlabel('x', {'usetex': True})",
    "ax.text(0, 0, 'x', {'usetex': True})",
    "ax.set_xticklabels(['x'], False, {'usetex': True})",
    "plt.title('x', {'usetex': True})",
    "plt.figtext(0, 0, 'x', {'usetex': True})",
    "ax.annotate('x', (0, 0), (0, 0), 'data', 'data', {'usetex': True})",
    "ax.pie([1], None, ['a'], None, None, 1, False, 1, 0, 1, True, None, {'usetex': True})",
    "from scipy.optimize import differential_evolution as d\nd(f, b, (), 'best1bin', 9, 9, 1, 1, 1, None, False, False, 'x', 0, 'deferred', -1)",
    "import seaborn as sns\nsns.barplot(df, 'a', 'b', 'c', 'd', 'e', 'to_csv')",
    "import seaborn as sns\nsns.barplot(df, x='a', y='b', estimator='to_csv')",
    "import seaborn as sns\nsns.load_dataset('x')",
    "import pandas as pd\npd.crosstab(a, b, c, d, e, 'to_csv')",
    "import pandas as pd\npd.crosstab(a, b, values=c, aggfunc='to_csv')",
    "import pandas as pd\npd.options.plotting.backend = 'x'",
    "import pandas as pd\npd.options.display = x",
    "import pandas as pd\npd.options.display.max_rows = open",
    "import pandas as pd\npd.set_option('display.max_rows', 1, 'plotting.backend', 'x')",
    "import pandas as pd\npd.set_option(x, 1)",
    "import pandas as pd\npd.set_option(pat='plotting.backend', val='x')",
    "from IPython.display import IFrame\nIFrame('x', 1, 1)",
    "from sklearn.linear_model import LogisticRegression\nLogisticRegression(n_jobs=-1)",
    "from sklearn.feature_extraction.text import CountVectorizer\nCountVectorizer(input='filename')",
    "from sklearn.datasets import fetch_openml\nfetch_openml('x')",
    "from scipy.io import savemat\nsavemat('canary', {})",
    "f = lambda: open('canary', 'w')\nf()",
    "f = lambda x: x('canary')\nf(open)",
    "f = lambda: 1\nf = open\nf('canary', 'w')",
    "%time open('canary', 'w')",
    "%timeit -n 1 open('canary', 'w')",
    "%%time\nopen('canary', 'w')",
    "%%timeit open('canary', 'w')\n1",
    "%timeit -s x 1",
    "%matplotlib qt",
    "%config Application.x = 1",
    "  %time 1",
    "import requests\nrequests.get('x')",
    "import socket\nsocket.socket()",
    "_('x')",
    "list(map(_, ['x']))",
    "x('y')",
    "x()()",
    "%run x.py",
    "%%bash\nrm x",
    "!rm x",
    "x = !ls",
    "x?",
    "?x",
    "ls -la",
    "pip install x",
    "'''\n!rm x\n'''",
    "'''\n%run x.py\n'''",
    "print(",
    "print(1)\r!rm x",
    "ｏｐｅｎ('canary', 'w')",
    "ｅｖａｌ('1')",
    "x.＿＿class＿＿",
    "match x:\n    case int(real=y):\n        pass",
    "try:\n    pass\nexcept* ValueError:\n    pass",
    "a\0b",
    "x = '\ud800'",
    "x = '\u202e'",
]  # fmt: skip


@pytest.mark.parametrize("code", [*HARMLESS_PYTHON, *HARMLESS_SCIENCE])
def test_harmless_python_is_not_listed(code: str, folder: Path) -> None:
    assert scan_code("python", code, folder).sentences == []
    assert nothing_listed("python", code, folder)


@pytest.mark.parametrize("code", LISTED_PYTHON)
def test_other_python_is_listed(code: str, folder: Path) -> None:
    assert not Permission("unremarkable", "python").covers("python", code, folder)


@pytest.mark.slow
def test_python_that_is_not_listed_changes_nothing_when_it_really_runs(folder: Path) -> None:
    before = state_of(folder)
    cells = [item for item in HARMLESS_PYTHON if "raise" not in item and "json.load(f)" not in item and item]
    wrapped = "for cell in {!r}:\n    try:\n        exec(cell, {{'__name__': '__main__'}})\n    except (KeyError, AttributeError): pass"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", wrapped.format(cells)],
        cwd=folder,
        text=True,
        capture_output=True,
        timeout=100,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert state_of(folder) == before


@pytest.mark.slow
def test_no_known_function_or_method_does_harm_whatever_it_is_given(folder: Path) -> None:
    before = state_of(folder)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.unit.review.python_allowlist_audit"],
        cwd=folder,
        text=True,
        capture_output=True,
        timeout=200,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3]), "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == 0, done.stderr
    calls, *harm = done.stdout.splitlines()
    assert int(calls) > 5_000
    assert harm == []
    assert state_of(folder) == before


# -- what earlier code does to the code that follows -------------------------------------------------


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (["import pandas as pd\ndf = pd.read_csv('a.csv')"], "df.head()"),
        (["import pandas as pd\ndf = pd.read_csv('/data/a.csv')"], "print(df['a'].mean())"),
        (["import pandas as pd", "df = pd.DataFrame()"], "pd.concat([df, df]).describe()"),
        (["def f(x):\n    return x * 2"], "f(3)"),
        (["import os\nos.remove('x')"], "print(1)"),
        (["import subprocess\nr = subprocess.run(['ls'])"], "print(r)"),
        (["import matplotlib.pyplot as plt\nplt.plot([1])\nplt.savefig('x.png')"], "sum([1, 2])"),
        (["with open('x', 'w') as f:\n    f.write('a')"], "print(2)"),
        (["h = lambda x: x + y", "y = 5"], "list(map(h, [1]))"),
        (["def g(i):\n    return i", "import requests\ni = requests.get('x')"], "g(1)"),
        (["len = 5"], "print(len)"),
        (["import pandas as pd\ndf = pd.DataFrame()\ndf.to_csv('x.csv')\ndf.plot()"], "df.head()"),
        (["import requests\nwith open('x', 'w') as f:\n    f.write(requests.get('u').text)"], "sum([1])"),
        (["import json\nwith open('x', 'w') as f:\n    json.dump([1], f)"], "sum([1])"),
        (["import subprocess, os\nsubprocess.run(['x'], env=os.environ)"], "sum([1])"),
        (["x = 1", "x = 2"], "x + 1"),
        (
            ["class Bad(ValueError):\n    pass"],
            "try:\n    raise Bad\nexcept Bad as e:\n    raise e from None",
        ),
        (
            ["%matplotlib inline\nimport matplotlib.pyplot as plt", "plt.plot([1])\nplt.show()"],
            "plt.bar([1], [2])",
        ),
        (["import pandas as pd\npd.set_option('display.width', 100)"], "df.head()"),
        (
            [
                "import sqlite3\nc = sqlite3.connect('x.db')",
                "import pandas as pd\nd = pd.read_sql('select 1', c)",
            ],
            "sum([1])",
        ),
        (["f = lambda x: x + 1"], "list(map(f, [1]))\nf(2)"),
        (["import os\nos.environ['OPENAI_API_KEY'] = 'x'\nos.environ['TZ'] = 'UTC'"], "print(1)"),
        (["import requests\ns = requests.Session()\ns.headers.update({'Accept': 'text/csv'})"], "print(1)"),
        (["import yaml\ny = yaml.safe_load('a: 1')"], "print(1)"),
        (["import seaborn as sns\nd = sns.load_dataset('tips')"], "print(1)"),
        (
            [
                "import statsmodels.formula.api as smf\nm = smf.ols('y ~ C(z) + np.log(a):b', df).fit()\nm.pvalues"
            ],
            "print(1)",
        ),
    ],
)
def test_ordinary_python_goes_on_after_earlier_code(before: list[str], now: str, folder: Path) -> None:
    assert nothing_listed("python", now, folder, *before)


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (["import os\nlen = os.system"], "len('rm x')"),
        (["len = print"], "len('x')"),
        (["print = exec"], "print('x')"),
        (["import os\nf = os.system"], "f('rm x')"),
        (["import os\nf = os.system"], "list(map(f, ['rm x']))"),
        (["import os\nf = os"], "f.remove('x')"),
        (["import os as f"], "f.remove('x')"),
        (["import shutil as df"], "df.copy('a', 'b')"),
        (["class X(y.Y):\n    def head(self): pass\ndf = X()"], "df.head()"),
        (["class X(y.Y):\n    pass"], "print(1)"),
        (["import pandas as pd, os\npd.DataFrame.head = os.system"], "df.head()"),
        (["import pandas as pd\npd = 5\nimport pandas as pd"], "pd.read_csv('a.csv')"),
        (["import builtins\nbuiltins.print = exec"], "print('x')"),
        (["from helper import *"], "print(1)"),
        (["import helper"], "print(1)"),
        (["exec('len = 1')"], "print(1)"),
        (["globals()['len'] = 1"], "print(1)"),
        (["setattr(x, 'y', 1)"], "print(1)"),
        (["%run x.py"], "print(1)"),
        (["print("], "print(1)"),
        (["import sys\nsys.path.insert(0, 'x')"], "import json"),
        (["import sys\nsys.modules['json'] = 1"], "import json"),
        (["import os\nos.chdir('/etc')"], "open('passwd').read()"),
        (["import os\nos.remove"], "list(map(_, ['x']))"),
        (["import os\nxs = [os.remove]"], "list(map(xs[0], ['x']))"),
        (["import os\nxs = []\nxs.append(os.remove)"], "list(map(xs[0], ['x']))"),
        (["xs = [0]", "import os\nxs[0] = os.remove"], "list(map(xs[0], ['x']))"),
        (["import os\ndef f():\n    return os.remove"], "list(map(f(), ['x']))"),
        (["import os\nf = g = os.remove", "h = f"], "list(map(h, ['x']))"),
        (["import os\nfor f in [os.remove]:\n    pass"], "list(map(f, ['x']))"),
        (["import os\nf, g = os.remove, 1"], "list(map(f, ['x']))"),
        (["h = lambda x: m.copy('a', 'b')", "import shutil as m"], "list(map(h, [1]))"),
        (["def f(x):\n    return list(map(g, x))", "import os\ng = os.system"], "f(['rm x'])"),
        (["def f(x):\n    return len(x)", "import os\nlen = os.system"], "f('rm x')"),
        (["x = (m.copy('a', 'b') for _ in [1])", "import shutil as m"], "list(x)"),
        (["h = lambda: ([0 for m in [1]], m.copy('a', 'b'))", "import shutil as m"], "list(map(h, []))"),
        (["def f():\n    global m\n    m = [1]\n    return m.copy()", "import shutil as m"], "f()"),
        (["import requests\nx = requests.get('u')"], "x.json()"),
        (["import pandas as pd\nf = pd.read_pickle"], "list(map(f, ['x']))"),
        (["import pandas as pd\npd.read_pickle('x')"], "print(1)"),
        (["import yaml\nyaml.load('x')"], "print(1)"),
        (["x = type(1)"], "list(map(x, ['1']))"),
        (
            [
                "import os\nclass A(Exception):\n    def __str__(self): os.remove('x')",
                "try:\n    raise A\nexcept A as a:\n    b = a",
            ],
            "print(b)",
        ),
        *(
            (["import os\nclass A(Exception):\n    def __str__(self): os.remove('x')"], now)
            for now in (
                "raise A",
                "raise A from None",
                "raise ValueError from A",
                "def f():\n    raise A\nf()",
            )
        ),
        (["import numpy as np\nnp.set_printoptions(formatter={'all': exit})"], "print(1)"),
        (["import numpy as np, os\nnp.put(a, 0, os.system)"], "list(map(a[0], ['x']))"),
        (["import os\na.put(0, os.system)"], "list(map(a[0], ['x']))"),
        (
            ["import os, requests\nx = []\ny = x if x else requests\ny.append(os.system)"],
            "list(map(x[0], ['x']))",
        ),
        (
            ["import os, requests\nx = []\ny = [x, requests][0]\ny.append(os.system)"],
            "list(map(x[0], ['x']))",
        ),
        (["import pandas as pd\npd.set_option('display.float_format', exit)"], "print(1)"),
        (["df.eval('x()')"], "print(1)"),
        (["df.columns = exit"], "print(1)"),
        (["import math\nmath.name = 1"], "print(1)"),
        (["import pandas as pd\npd.DataFrame.__len__ = print"], "print(1)"),
        (["x._foo()"], "print(1)"),
        (["from pathlib import Path\nPath('a')"], "Out[1].replace('b')"),
        (["from pathlib import Path\nPath('a')"], "_1.replace('b')"),
        (["from pathlib import Path\nPath('a')"], "_oh[1].replace('b')"),
        (["from pathlib import Path\nPath('a')"], "Out = 1\ndel Out\nOut[1].replace('b')"),
        (["from pathlib import Path\nPath('a')", "x = list(Out.values())"], "x[0].replace('b')"),
        (["import os\nos"], "[value.remove('x') for value in Out.values()]"),
        (["import os\nos.remove"], "sorted(['x'], key=Out[1])"),
        (["1"], "_dh[0].replace('b')"),
        # Settings by which matplotlib imports modules, calls functions or starts programs.
        *(
            ([f"import os\n{line}"], "import matplotlib.pyplot as plt\nplt.plot([1])\nplt.show()")
            for line in (
                "os.environ['MPLBACKEND'] = 'module://x'",
                "os.environ['MATPLOTLIBRC'] = '.'",
                "os.environ['MPL_TOKEN'] = '.'",
                "os.environ['HOME'] = '.'",
                "os.environ[name] = 'x'",
                "os.environ.update({'MPLBACKEND': 'module://x'})",
                "os.environ.setdefault('MPLBACKEND', 'module://x')",
                "os.environ.update(MPLBACKEND='module://x')",
                "os.environ.update(settings)",
                "e = os.environ\ne.update({'MPLBACKEND': 'module://x'})",
                "os.putenv('MPLBACKEND', 'module://x')",
            )
        ),
        (["import matplotlib\nmatplotlib.rc_file('x.rc')"], "import matplotlib.pyplot as plt\nplt.figure()"),
        (["import matplotlib.style\nmatplotlib.style.reload_library()"], "print(1)"),
        # Functions that import modules, call functions by their names, or run what a text or a file has in it.
        *(
            ([f"{line}"], "print(1)")
            for line in (
                "import matplotlib.pyplot as plt\nplt.switch_backend('module://x')",
                "import logging.config\nlogging.config.fileConfig('x.ini')",
                "from logging.config import dictConfig\ndictConfig({'version': 1})",
                "import yaml\nyaml.full_load('x')",
                "import yaml\nyaml.unsafe_load('x')",
                "import pandas as pd\npd.read_hdf('x.h5')",
                "import pandas as pd\npd.HDFStore('x.h5').get('x')",
                "import numpy as np\nnp.testing.measure('x()')",
                "import numpy as np\nnp.lib.format.read_array(f, allow_pickle=True)",
                "import statsmodels.formula.api as smf\nsmf.ols('y ~ x()', data=df)",
                "import statsmodels.formula.api as smf\nsmf.ols(formula=text, data=df)",
                "from statsmodels.formula.api import logit\nlogit('y ~ a.b(1)', df)",
                "from statsmodels.formula.api import logit\nlogit('y ~ (x)[0](1)', df)",
                "import statsmodels.api as sm\nsm.OLS.from_formula('y ~ x()', df)",
                "from PIL import ImageMath\nImageMath.unsafe_eval('x')",
                "import sqlite3\nc = sqlite3.connect('x.db')\nc.load_extension('./x')",
                "import xml.sax\nxml.sax.make_parser(['x'])",
                "import os\nos.fork()",
                "import os\nos.chroot('x')",
            )
        ),
    ],
)
def test_what_earlier_python_may_have_changed_is_listed(before: list[str], now: str, folder: Path) -> None:
    assert not nothing_listed("python", now, folder, *before)


@pytest.mark.parametrize(
    "before",
    [
        "mkdir x && git status",
        "rm a.csv",
        "python3 x.py > out.txt",
        "make; ls",
        "pip install x",
        "ls -la",
        "grep -v x a.csv",
        "printf '%s' a",
    ],
)
def test_programs_leave_the_shell_as_it_is(before: str, folder: Path) -> None:
    assert nothing_listed("shell", "ls", folder, before)


@pytest.mark.parametrize(
    "before",
    [
        "alias ls='rm x'",
        "ls() { rm x; }",
        "trap 'rm x' DEBUG",
        "PATH=.",
        "export PATH=.",
        "conda activate x",
        "hash -p ./x ls",
        "cd /etc",
        "cd data",
        "eval x",
        ". ./x",
        "source x",
        "set -o x",
        "shopt -s x",
        "unset x",
        "enable -n ls",
        "printf -v PATH x",
        "printf -vPATH x",
        "$(echo alias) ls=rm",
        "x=1; ls",
        "unknown_function",
        "ls; umask 0",
        "exec 3>x",
    ],
)
def test_shell_that_may_have_changed_what_commands_mean_ends_the_cover(before: str, folder: Path) -> None:
    assert not nothing_listed("shell", "ls", folder, before)
    earlier = EarlierCode()
    earlier.add("bash", before, folder)
    assert not Permission("unremarkable", "shell").covers("shell", "ls", folder, earlier)
    assert earlier.is_unclear("sh")
    assert not earlier.is_unclear("python")
    unclear = Finding("not understood", "effects of earlier code", 0)
    assert scan_code("shell", "ls", folder, earlier).unchecked == (unclear,)
    earlier.forget()
    assert Permission("unremarkable", "shell").covers("shell", "ls", folder, earlier)


def test_what_python_forgot_counts_no_more(folder: Path) -> None:
    earlier = EarlierCode()
    for code in ("h = lambda: m", "import shutil as m", "exec('1')"):
        earlier.add("python", code, folder)
    assert earlier.is_unclear("python")
    assert not earlier.is_unclear("shell")
    earlier.forget()
    assert not earlier.names
    earlier.add("python", "import shutil as m", folder)
    assert not earlier.is_unclear("python")


def test_every_function_is_remembered_with_the_names_it_goes_by(folder: Path) -> None:
    for code in ("f = lambda: 1\nh = lambda: m", "def f():\n    return 1\ndef h():\n    return m"):
        earlier = EarlierCode()
        earlier.add("python", code, folder)
        assert not earlier.is_unclear("python")
        earlier.add("python", "import shutil as m", folder)
        assert earlier.is_unclear("python")


def test_other_languages_leave_no_trace(folder: Path) -> None:
    earlier = EarlierCode()
    earlier.add("javascript", "print = 1", folder)
    assert not earlier.names
    assert not earlier.is_unclear("javascript")


# -- the folder ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["json.py", "pandas.py", "_strptime.py", "requests.so", "random.cpython-311-x86_64-linux-gnu.so"]
)
def test_a_file_that_python_would_load_instead_of_a_module_is_listed(name: str, tmp_path: Path) -> None:
    assert nothing_listed("python", "import json", tmp_path)
    (tmp_path / name).write_text("")
    assert not nothing_listed("python", "import json", tmp_path)
    assert name in scan_code("python", "1", tmp_path).sentences[0]


@pytest.mark.parametrize(
    ("language", "code", "file"),
    [
        ("r", "data(prices)", "data/prices.R"),
        ("r", "utils::data(list = 'prices')", "data/prices.R"),
        ("r", "'prices' |> data()", "data/prices.rda"),
        ("r", "lapply(c('prices'), data)", "data/prices.R"),
        ("r", "mean(1)", ".Renviron"),
        ("octave", "x = 1", "PKG_ADD"),
        ("octave", "x = 1", "@double/display.m"),
        ("bun", "console.log(1)", "bunfig.toml"),
        ("rust", 'fn main() { println!("1"); }', "rust-toolchain.toml"),
    ],
)
def test_a_file_of_the_folder_that_a_language_runs_by_itself_is_listed(
    language: str, code: str, file: str, tmp_path: Path
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "prices.csv").touch()
    (tmp_path / "notes.toml").touch()
    assert not scan_code(language, code, tmp_path).unchecked
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    path.touch()
    shown = file if file.startswith("data/") else file.partition("/")[0]
    assert f"not checked: {shown} in this folder" in scan_code(language, code, tmp_path).sentences


def test_a_table_called_data_is_no_call_of_data_in_r(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "prices.R").touch()
    code = "data <- data.frame(x = 1:3)\nsummary(lm(x ~ 1, data))\nhead(data)"
    assert scan_code("r", code, tmp_path).sentences == []


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("c", '#define X "x.h"\n#include X\nint main(){}'),
        ("c", '#import "x.h"\nint main(){}'),
        ("c", '%:include "x.h"\nint main(){}'),
        ("c", '#include_next "x.h"\nint main(){}'),
        ("c", '#/**/include "x.h"\nint main(){}'),
        ("c", '#inc\\\nlude "x.h"\nint main(){}'),
        ("c", "#include </tmp/x.h>\nint main(){}"),
        ("cpp", "#include <./x.h>\nint main(){}"),
        ("c", 'const char a[] = {\n#embed "x"\n}; int main(){}'),
        ("rust", '#[path = "/tmp/x.rs"] mod new;\nfn main(){ new::new(); }'),
        ("rust", "mod r#fn;\nfn main(){}"),
        ("go", "package main\nimport (`other`)\nfunc main(){}"),
        ("go", 'package main\nimport ( "fmt"; "other" )\nfunc main(){}'),
        ("go", 'package main\nimport "fmt"; import "other"\nfunc main(){}'),
        ("javascript", "export{default}from'./x'"),
        ("julia", "begin using Other end"),
        ("julia", "1; using Other"),
        ("julia", 'push!(LOAD_PATH, ".")'),
        ("powershell", "#Requires -Modules ./x\nWrite-Output 1"),
    ],
)
def test_other_spellings_of_what_brings_in_a_file_are_listed(
    language: str, code: str, tmp_path: Path
) -> None:
    assert scan_code(language, code, tmp_path).unchecked


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("c", '#include <stdio.h>\n# include <sys/types.h>\nint main(){ puts("1"); }'),
        ("cpp", "#include <bits/stdc++.h>\n#include <vector>\nint main(){}"),
        ("go", 'package main\nimport (\n\t"fmt"\n\t"strings"\n)\nfunc main(){ fmt.Println("a") }'),
        ("julia", 'println("done using Other")'),
        ("rust", "mod own { pub fn two() -> i32 { 2 } }\nfn main(){ own::two(); }"),
    ],
)
def test_what_a_language_comes_with_is_brought_in_without_a_finding(
    language: str, code: str, tmp_path: Path
) -> None:
    assert scan_code(language, code, tmp_path).sentences == []


def test_our_own_words_in_a_finding_are_never_cut(tmp_path: Path) -> None:
    review = scan_code("python", "from IPython.display import Markdown\nMarkdown(input())", tmp_path)
    assert any("Markdown(…), which may read a file or an address" in text for text in review.sentences)


@pytest.mark.parametrize(
    ("language", "code"),
    [("python", f"{'a' * 60}()"), ("shell", f"frob {'a' * 60}"), ("lua", f"{'a' * 60}()")],
)
def test_a_long_name_in_a_finding_is_marked_where_it_is_cut(language: str, code: str, tmp_path: Path) -> None:
    (what,) = {item.what for item in scan_code(language, code, tmp_path).unchecked}
    assert what.endswith("…") or what == "frob"
    assert len(what) <= 40


def test_a_file_that_octave_would_run_for_a_word_is_listed(tmp_path: Path) -> None:
    (tmp_path / "tidy.m").write_text("delete('a')")
    (tmp_path / "notes.txt").write_text("")
    assert scan_code("octave", "notes = 1\nmean([1 2])", tmp_path).sentences == []
    assert scan_code("octave", "tidy", tmp_path).sentences == ["not checked: tidy.m in this folder"]
    (tmp_path / "mean.m").write_text("")
    assert "mean.m" in scan_code("octave", "mean([1 2])", tmp_path).sentences[0]


def test_a_folder_that_python_would_load_instead_of_a_module_is_listed(tmp_path: Path) -> None:
    (tmp_path / "json").mkdir()
    (tmp_path / "main.py").write_text("")
    (tmp_path / "json.txt").write_text("")
    assert nothing_listed("python", "import json", tmp_path)
    (tmp_path / "json" / "__init__.py").write_text("")
    assert not nothing_listed("python", "import json", tmp_path)


def test_a_program_in_the_folder_that_the_shell_would_start_is_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    for entry in (str(tmp_path / "bin"), "bin"):
        monkeypatch.setenv("PATH", f"/usr/bin:{entry}")
        assert nothing_listed("shell", "ls", tmp_path)
    (tmp_path / "bin" / "ls").write_text("")
    for entry in (str(tmp_path / "bin"), "bin"):
        monkeypatch.setenv("PATH", f"/usr/bin:{entry}")
        assert not nothing_listed("shell", "ls", tmp_path)
        assert nothing_listed("shell", "cat", tmp_path)


def test_only_plain_files_are_read_and_folders_only_listed(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "token").mkdir()
    (tmp_path / "a.csv").write_text("")
    (tmp_path / "same").symlink_to("a.csv")
    place = LocalFolder(tmp_path)
    assert {name: bool(explain_unreadable(name, place)) for name in ("pipe", "token", "a.csv", "same", ".")} == {
        "pipe": True, "token": True, "a.csv": False, "same": False, ".": True
    }  # fmt: skip
    assert not explain_unreadable("token", place, listing=True)
    assert explain_unreadable("pipe", place, listing=True)


@pytest.mark.parametrize(
    ("name", "plain"), [("a b.csv", True), ("a\x1fb", False), ("a\tb", False), ("é!", True)]
)
def test_names_may_hold_spaces_and_no_control_characters(name: str, plain: bool, tmp_path: Path) -> None:
    assert (explain_unreadable(name, LocalFolder(tmp_path)) == "") is plain


def test_a_folder_that_is_not_there_hides_nothing(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    assert nothing_listed("python", "open('a.csv')", gone)
    assert not nothing_listed("python", "open('../a.csv')", gone)
    assert nothing_listed("shell", "cat data/*.csv", gone)


# -- grants -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["javascript", "r", "ruby", "perl", "lua", "java", "html", "react", "applescript",
                                      "powershell", "typescript", "julia", "c", "cpp", "rust", "go", "php", "octave",
                                      "fish", "klingon", "deno", "bun"])  # fmt: skip
def test_languages_that_are_not_parsed_are_offered_no_grant_for_code_without_findings(
    language: str, folder: Path
) -> None:
    assert "unremarkable" not in [offer.scope for offer in list_offers(language, "1", folder)]
    assert not Permission("unremarkable", language).covers(language, "1", folder)
    assert [offer.scope for offer in list_offers(language, "1", folder)] == [
        "code",
        "count",
        "language",
        "everything",
    ]


def test_the_grant_is_offered_only_where_it_covers_the_code_itself(folder: Path) -> None:
    def scopes(code: str, earlier: EarlierCode | None = None) -> list[str]:
        return [offer.scope for offer in list_offers("python", code, folder, earlier)]

    assert "unremarkable" in scopes("print(1)")
    assert "unremarkable" not in scopes("open('canary', 'w')")
    earlier = EarlierCode()
    earlier.add("python", "exec('x')", folder)
    assert "unremarkable" not in scopes("print(1)", earlier)


def test_the_words_of_the_grant_say_what_it_matches() -> None:
    grant = Permission("unremarkable", "python")
    assert grant.words == "python code with no risks found"
    assert grant.offer == "python code with no risks found: every part is known to be harmless"


@pytest.mark.parametrize(
    ("grant", "words"),
    [
        (Permission("code", "python", "a"), "this python code again (1 line: a)"),
        (Permission("code", "python", "\n a\n"), "this python code again (2 lines: a)"),
        (Permission("code", "python", "a" * 40), f"this python code again (1 line: {'a' * 40})"),
        (Permission("code", "python", "a" * 41), f"this python code again (1 line: {'a' * 39}…)"),
        (Permission("count", "python", left=1), "the next python cell"),
        (Permission("count", "python", left=2), "the next 2 python cells"),
        (Permission("language", "python"), "all python"),
    ],
)
def test_the_words_of_each_grant_say_what_it_matches(grant: Permission, words: str) -> None:
    assert grant.words == words


def test_a_grant_that_is_used_up_or_for_another_language_covers_nothing(folder: Path) -> None:
    assert not Permission("count", "python").covers("python", "1", folder)
    assert Permission("count", "python", left=1).covers("python", "1", folder)
    assert not Permission("everything", "python").covers("python", "1", folder)
    for scope in ("code", "count", "unremarkable", "language"):
        assert not Permission(scope, "shell", "1", left=1).covers("python", "1", folder)
    assert not Permission("code", "python", "1").covers("python", "1 ", folder)


def test_of_two_grants_that_say_the_same_one_stays_and_is_revoked_once() -> None:
    grants = Permissions()
    for code in ("a", "b", "a"):
        grants.add(Permission("code", "python", code))
    assert [item.code for item in grants] == ["b", "a"]
    assert grants
    assert grants.revoke(Permission("code", "python", "a"))
    assert not grants.revoke(Permission("code", "python", "a"))
    assert not grants.revoke(Permission("everything", ""))
    grants.add(Permission("everything", "python"))
    assert [item.scope for item in grants.in_force] == ["everything", "code"]
    assert grants.revoke(Permission("everything", ""))
    assert not grants.everything
    grants.clear()
    assert not grants


def test_the_narrowest_grant_is_used_and_a_count_is_spent_last(folder: Path) -> None:
    grants = Permissions()
    for grant in (
        Permission("count", "python", left=1),
        Permission("language", "python"),
        Permission("unremarkable", "python"),
    ):
        grants.add(grant)
    used = grants.use("python", "print(1)", folder)
    assert used is not None
    assert used.scope == "unremarkable"
    used = grants.use("python", "eval('1')", folder)
    assert used is not None
    assert used.scope == "language"
    assert grants.use("shell", "ls", folder) is None
    assert grants.revoke(Permission("language", "python"))
    used = grants.use("python", "eval('1')", folder)
    assert used is not None
    assert used.scope == "count"
    assert grants.use("python", "eval('1')", folder) is None
    earlier = EarlierCode()
    earlier.add("python", "eval('1')", folder)
    assert grants.use("python", "print(1)", folder, earlier) is None


@pytest.mark.parametrize(
    ("ran", "asked"),
    [
        (["print(1)", "print(2)", "open('canary','w')"], ["print(1)", "open('canary','w')"]),
        (["print(1)", "import os; os.remove('x')"], ["print(1)", "import os; os.remove('x')"]),
        (["print(1)", "len = print", "print(len)", "len('x')"], ["print(1)", "len('x')"]),
        (["print(1)", "exec('x')", "print(3)"], ["print(1)", "exec('x')", "print(3)"]),
        (["print(1)", "%run x.py", "print(3)"], ["print(1)", "%run x.py", "print(3)"]),
    ],
)
def test_a_session_asks_for_what_the_grant_does_not_cover(ran: list[str], asked: list[str]) -> None:
    session = make(*([call(code)] for code in ran))
    events = run_turn(session, "go", Run(ran[0], Permission("unremarkable", "python")))
    assert [item.message.content for item in select(events, ApprovalRequested)] == asked
    assert session.computer.ran == [("python", code) for code in ran]


def test_code_of_the_persons_own_counts_as_earlier_code() -> None:
    session = make([call("print(1)")])
    session.permissions.add(Permission("unremarkable", "python"))
    list(session.run("py", "exec('x')"))
    assert len(select(run_turn(session), ApprovalRequested)) == 1


def test_code_that_was_edited_counts_as_it_ran() -> None:
    session = make([call("print(1)")], [call("print(2)")])
    events = run_turn(session, "go", Run("exec('x')", Permission("unremarkable", "python")))
    assert len(select(events, ApprovalRequested)) == 2


def test_safe_mode_asks_for_risks_and_not_for_what_is_only_unchecked() -> None:
    codes = ["df.foo()", "open('/b').read()", "import os; os.remove('x')"]
    session = make(*([call(code)] for code in codes), auto_run=True, safe_mode="ask")
    questions = select(run_turn(session), ApprovalRequested)
    assert [question.message.content for question in questions] == codes[2:]
    assert questions[0].caution == "safe_mode asks because this code deletes: x (line 1)."


def test_what_is_called_python_and_is_not_is_never_known_to_be_harmless() -> None:
    session = make([call("print(1)")], [call("print(2)")])
    session.computer.replaced = frozenset({"python"})
    session.permissions.add(Permission("unremarkable", "python"))
    assert len(select(run_turn(session), ApprovalRequested)) == 2
    assert [offer.scope for offer in list_offers("python", "print(1)", Path("/"), session.earlier)] == [
        "code",
        "count",
        "language",
        "everything",
    ]


def test_safe_mode_asks_for_code_that_cannot_be_scanned() -> None:
    session = make([call("print(1)")], auto_run=True, safe_mode="ask")
    session.computer.replaced = frozenset({"python"})
    (question,) = select(run_turn(session), ApprovalRequested)
    assert question.caution == "safe_mode asks because this code cannot be scanned for risks."


# -- what is shown ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("language", "code", "sentences", "conclusion"),
    [
        ("python", "print(1)", [], "no risks found (no guarantee)"),
        ("python", "open('b', 'w')", ["writes files: b"], ""),
        ("python", "open('/b')", ["reads files: /b"], ""),
        ("python", "open(b)", ["reads files"], ""),
        ("python", "x.foo()\ny.baz()\nx.foo()", ["not checked: x.foo(…) (line 1), y.baz(…) (line 2)"], ""),
        (
            "python",
            "a.a1()\nb.b1()\nc.c1()\nd.d1()\ne.e1()",
            ["not checked: a.a1(…) (line 1), b.b1(…) (line 2), c.c1(…) (line 3) and 2 more"],
            "",
        ),
        (
            "python",
            "import os\nx.foo()\nos.remove('a')",
            ["deletes: a (line 3)", "not checked: x.foo(…) (line 2)"],
            "",
        ),
        ("python", "print(", [], "not scanned"),
        ("javascript", "1", [], "no risks found, but only known risks were searched"),
        ("javascript", "fs.rmSync('a')", ["deletes (line 1)"], ""),
        ("shell", "ls\nmake", ["not checked: make (line 2)"], ""),
        ("shell", "cat /b", ["reads files: /b"], ""),
    ],
)
def test_what_is_listed_is_short_and_dangers_come_first(
    language: str, code: str, sentences: list[str], conclusion: str, folder: Path
) -> None:
    seen = scan_code(language, code, folder)
    assert seen.sentences == sentences
    assert seen.conclusion == conclusion
    assert seen.nothing_listed == (conclusion == "no risks found (no guarantee)")
    assert seen.sentences == [*seen.risk_sentences, *seen.fact_sentences]


def test_only_risks_mark_lines(folder: Path) -> None:
    seen = scan_code("python", "open('a', 'w')\nopen('/b')\nx.foo()\neval('1')", folder)
    assert seen.lines == {4}
    assert [risk.kind for risk in seen.risks] == ["runs text"]


# -- odd and long code --------------------------------------------------------------------------------


def mutants() -> Iterator[tuple[str, str, str]]:
    chance = random.Random(4)
    python = [
        item
        for item in LISTED_PYTHON
        if item.strip() and "\n" not in item and not item.startswith(("!", "%", "?"))
    ]
    shell = [item for item in LISTED_SHELL if item.strip() and not item.endswith("\\")]
    for number in range(300):
        calm = chance.choice(HARMLESS_PYTHON)
        bad = chance.choice(python)
        shape = chance.choice(
            ["{calm}\n{bad}", "{bad}\n{calm}", "if 1:\n    {bad}\n{calm}", "def f():\n    {bad}\n{calm}"]
        )
        yield f"python-{number}", "python", shape.format(calm=calm, bad=bad)
        calm, bad = chance.choice(HARMLESS_SHELL), chance.choice(shell)
        shape = chance.choice(["{calm}\n{bad}", "{bad}\n{calm}"])
        yield f"shell-{number}", "shell", shape.format(calm=calm, bad=bad)


@pytest.mark.slow
def test_a_dangerous_line_among_harmless_ones_is_always_listed(folder: Path) -> None:
    missed = [code for _, language, code in mutants() if nothing_listed(language, code, folder)]
    assert missed == []


def test_any_cut_of_dangerous_code_is_read_without_fault(folder: Path) -> None:
    for language, table in (("python", LISTED_PYTHON), ("shell", [*LISTED_SHELL, *ODD])):
        for code in table[::3]:
            for end in range(0, len(code), 3):
                scan_code(language, code[:end], folder)


@pytest.mark.parametrize(
    "code",
    ["(" * 5000, "[" * 90 + "]" * 90, "-" * 50_000 + "1", "1" + "+1" * 40_000, "x" + ".a" * 30_000, "x" + "[0]" * 30_000,
     "f(" * 80 + ")" * 80, "lambda:" * 900 + "1", "if 1:\n" + "\n".join(" " * i + "if 1:" for i in range(1, 99)),
     "x=1\n" * 5_000, "a='" + "b" * 1_000_000 + "'", "print(1)\n" * 110_000, "a=b=" * 2_000 + "1"],
    ids=range(13),
)  # fmt: skip
def test_long_and_deep_code_is_read_in_bounded_time_without_fault(code: str, folder: Path) -> None:
    began = time.process_time()
    for language in ("python", "shell"):
        EarlierCode().add(language, code, folder)
        scan_code(language, code, folder)
    assert time.process_time() - began < 20
    if len(code) > 100_000:
        assert not nothing_listed("python", code, folder)
        assert not nothing_listed("shell", code, folder)


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("python", "\n" * 20_000 + "x"),
        ("python", " " * 60_000 + "x"),
        ("python", "%config InlineBackend.figure_format =" + " " * 50_000 + "!"),
        ("shell", "\n" * 20_000 + "x"),
        ("octave", "\n" * 15_000 + "x"),
        ("powershell", "\n" * 15_000 + "x"),
        ("fish", "\n" * 15_000 + "x"),
        ("lua", "[" * 20_000),
        ("octave", "x=" * 10_000),
    ],
    ids=range(9),
)
def test_code_of_one_repeated_part_is_read_in_bounded_time(language: str, code: str, folder: Path) -> None:
    began = time.process_time()
    scan_code(language, code, folder)
    assert time.process_time() - began < 20


@pytest.mark.parametrize(
    ("language", "code"),
    [
        # DuckDB and PostgreSQL end a comment here, SQLite does not.
        ("sql", "SELECT 1 -- hi \r; DROP TABLE a"),
        ("r", "# hi \rSys.setlocale('a')"),
        ("lua", "-- hi \rsomething('a')"),
        ("javascript", "// hi \rsomething('a')"),
        ("javascript", "// hi \u2028something('a')"),
        ("typescript", "// hi \u2029something('a')"),
        ("powershell", "# hi \rGet-Something"),
        ("php", "// hi \rsomething('a');"),
        # Here it ends none, so that the quotation mark begins no text.
        ("perl", "# hi \r'\nsomething('a'); # '"),
        ("ruby", "# hi \r'\nsomething('a') # '"),
    ],
)
def test_a_comment_that_ends_in_some_languages_where_it_goes_on_in_others_is_not_checked(
    language: str, code: str, folder: Path
) -> None:
    review = scan_code(language, code, folder)
    assert review.unchecked
    assert not review.nothing_listed


@pytest.mark.parametrize(
    ("language", "code"), [("sql", "SELECT 1 -- hi\r\n, 2"), ("r", "# hi\r\nmean(1)\r\n")]
)
def test_line_ends_of_windows_are_ordinary(language: str, code: str, folder: Path) -> None:
    assert scan_code(language, code, folder).unchecked == ()
