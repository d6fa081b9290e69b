"""Paths of `pathlib` within the folder are understood where only their names and sizes are asked for."""

from pathlib import Path

import pytest

from oi_tui.engine.review.earlier_code import EarlierCode
from oi_tui.engine.review.findings import Findings
from oi_tui.engine.review.scanner import scan_code

FOLDER = Path("/home/ada/sales")
LISTING = [
    "from pathlib import Path\nfor p in Path('.').iterdir():\n    print(p.name, p.suffix, p.stat().st_size)",
    "from pathlib import Path\nfor p in sorted(Path().glob('*.csv')):\n    print(p)",
    (
        "import pathlib\n"
        "files = list(pathlib.Path('.').rglob('*'))\n"
        "print(len(files), files[:3])\n"
        "print([f.name for f in files if f.is_file()])"
    ),
    (
        "from pathlib import Path\n"
        "p = Path('data.csv')\n"
        "print(p.exists(), p.stem, p.stat().st_mtime, p.is_dir())"
    ),
    (
        "from pathlib import Path\n"
        "total = sum(p.stat().st_size for p in Path.cwd().rglob('*') if p.is_file())\n"
        'print(f"{total / 1e6:.1f} MB")'
    ),
    (
        "from pathlib import Path\n"
        "base = Path('.')\n"
        "for p in base.glob('**/*.csv'):\n"
        "    print(p.name, round(p.stat().st_size / 1024, 1))"
    ),
    (
        "from pathlib import Path\n"
        "from collections import Counter\n"
        "print(Counter(p.suffix for p in Path('.').rglob('*')))"
    ),
    (
        "from pathlib import Path\n"
        "from datetime import datetime\n"
        "rows = [(p.name, datetime.fromtimestamp(p.stat().st_mtime)) for p in Path('data').iterdir()]\n"
        "import pandas as pd\n"
        "df = pd.DataFrame(rows, columns=['name', 'when'])\n"
        "print(df)"
    ),
    "from pathlib import Path\nfor p in sorted(Path('.').iterdir(), reverse=True): print(p)",
]
MORE_THAN_LISTING = [
    "from pathlib import Path\nfor p in Path('.').iterdir(): p.unlink()",
    "from pathlib import Path\nfor p in Path('.').iterdir(): print(p.read_text())",
    "from pathlib import Path\nfor p in Path('/etc').iterdir(): print(p.name)",
    "from pathlib import Path\nfor p in Path('..').iterdir(): print(p.name)",
    "from pathlib import Path\nfor p in Path.home().iterdir(): print(p.name)",
    "from pathlib import Path\nfor p in Path('.').parent.parent.iterdir(): print(p.name)",
    "from pathlib import Path\nfor p in Path('.').glob('../*'): print(p.name)",
    "from pathlib import Path\nfor p in Path('.').rglob('/etc/*'): print(p.name)",
    "from pathlib import Path\n(Path('.') / '..').iterdir()",
    "from pathlib import Path\nlist(Path('.').joinpath('/etc').iterdir())",
    "from pathlib import Path\np = Path('.')\np = p.resolve().parent\nprint(list(p.iterdir()))",
    "from pathlib import Path\np = Path('.')\np = df\np.iterdir()",
    "from pathlib import Path\nPath('.').iterdir().send(1)",
    "from pathlib import Path\n[p.unlink() for p in Path('.').iterdir()]",
    "from pathlib import Path\nlist(map(Path.unlink, Path('.').iterdir()))",
    "from pathlib import Path\nfor p in sorted(Path('.').glob('*.csv'), key=Path.unlink): pass",
    "from pathlib import Path\nfor p in sorted(Path('.').glob('*.csv'), key=lambda p: p.unlink()): pass",
    "from pathlib import Path\nf = Path('data.csv').write_text\nf('x')",
    "from pathlib import Path\nPath('data.csv').rename('x')",
    "from pathlib import Path\nPath('data.csv').replace('x')",
    "from pathlib import Path\np = Path('data.csv'); p.replace('x')",
    "from pathlib import Path\nfor p in Path('.').iterdir(): p.replace('x')",
    "from pathlib import Path\nfor p in Path('.').iterdir(): p.rename('x')",
    "from pathlib import Path\nfiles = list(Path('.').iterdir())\nfiles[0].replace('x')",
    "from pathlib import Path\nfiles = sorted(Path('.').iterdir())\nfiles.sort(key=Path.unlink)",
    "from pathlib import Path\nfor i, p in enumerate(Path('.').iterdir()): p.replace('x')",
    "from pathlib import Path\nfor a, b in zip(Path('.').iterdir(), [1]): a.replace('x')",
    "from pathlib import Path\nd = {p.name: p for p in Path('.').iterdir()}\nd['a'].replace('x')",
    "from pathlib import Path\nmax(Path('.').iterdir()).replace('x')",
    "from pathlib import Path\nnext(Path('.').iterdir()).replace('x')",
    "from pathlib import Path\n(lambda p: p.replace('x'))(Path('a'))",
    "from pathlib import Path\ndef f(p): p.replace('x')\nf(Path('a'))",
    "from pathlib import Path\ndef f(): return Path('a')\nf().replace('x')",
    "from pathlib import Path\n[*Path('.').iterdir()][0].replace('x')",
    "from pathlib import Path\n(Path('a') or 1).replace('x')",
    "from pathlib import Path\n(Path('a') if 1 else 2).replace('x')",
    "from pathlib import Path\nmatch Path('a'):\n    case p: p.replace('x')",
    "from pathlib import Path\nwith Path('a') as p: p.replace('x')",
    "from pathlib import Path\na, b = Path('a'), 1\na.replace('x')",
    "from pathlib import Path\na = b = Path('a')\nb.replace('x')",
    "from pathlib import Path\nx = [1]\nx += Path('.').iterdir()\nx[0].replace('x')",
    "from pathlib import Path\nx = []\nx.extend(Path('.').iterdir())\nx[0].replace('x')",
    "from pathlib import Path\nx = []\nfor p in Path('.').iterdir(): x.append(p)\nx[0].replace('x')",
    "from pathlib import Path\nclass A:\n    p = Path('a')\nA.p.replace('x')",
    "from pathlib import Path\np = Path(f'{\"/etc\"}')\np.iterdir()",
    "from pathlib import Path\np = Path('a', '/etc')\nlist(p.iterdir())",
    "from pathlib import Path\np = Path(*['/etc'])\nlist(p.iterdir())",
    "from pathlib import Path\nPath.iterdir = Path.unlink\nPath('.').iterdir()",
    "from pathlib import Path\nPath('.').stat(follow_symlinks=df.to_csv)",
    "from pathlib import Path\nPath('.').walk(on_error=df.to_csv)",
    "from pathlib import Path\nPath('.').owner(); Path('.').lchmod(1)",
    "from pathlib import Path\npd.Series(list(Path('.').iterdir())).map(Path.unlink)",
    "from pathlib import Path\nfor p in Path('.env').parent.iterdir(): print(p)",
    "from pathlib import Path\nimport os\nos.chdir('/etc')\nprint(list(Path('.').iterdir()))",
    "from pathlib import Path\nreversed(list(Path('.').iterdir())).__next__().unlink()",
    "from pathlib import Path\nsorted(Path('.').iterdir())[0].open('w')",
    "from pathlib import Path\nopen(Path('data.csv'), 'w')",
    "from pathlib import Path\nopen(next(iter(Path('.').iterdir())))",
    "from pathlib import Path\npd.read_csv(Path('.').glob('*.pem'))",
    "from pathlib import Path\ngetattr(Path('a'), 'unlink')()",
    "from pathlib import Path\nfor p in sorted(Path('.').iterdir(), key=lambda p: p.replace('x')): pass",
]  # fmt: skip


def scan_python(code: str, *earlier: str, folder: Path = FOLDER) -> Findings:
    known = EarlierCode()
    for cell in earlier:
        known.add("python", cell, folder)
    return scan_code("python", code, folder, known)


@pytest.mark.parametrize("code", LISTING)
def test_listing_the_folder_is_clear(code: str) -> None:
    assert scan_python(code).level == "clear", scan_python(code).sentences


@pytest.mark.parametrize("code", MORE_THAN_LISTING)
def test_more_than_listing_the_folder_is_listed(code: str) -> None:
    assert scan_python(code).level != "clear"


def test_a_path_of_an_earlier_cell_is_known() -> None:
    assert scan_python("print(p.exists())", "from pathlib import Path\np = Path('data.csv')").level == "clear"
    assert scan_python("p.unlink()", "from pathlib import Path\np = Path('data.csv')").level != "clear"
    assert scan_python("p.exists()", "from pathlib import Path\np = Path('x')", "p = df.a").level != "clear"


def test_a_function_that_took_a_name_for_a_path_is_unclear_once_it_is_another_value() -> None:
    cells = ["from pathlib import Path\np = Path('x')", "def f():\n    return p.stat().st_size"]
    assert scan_python("f()", *cells).level == "clear"
    assert scan_python("f()", *cells, "p = df.a").level != "clear"


def test_links_that_lead_out_of_the_folder_are_listed(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "out").symlink_to(tmp_path)
    code = "from pathlib import Path\nprint(list(Path('out').iterdir()))"
    assert scan_python(code, folder=tmp_path / "here").level != "clear"
