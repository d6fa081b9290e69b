"""Code that replaces a file which is there already is told from code that writes a new one."""

import json
from pathlib import Path

import pytest

from oi_tui.engine.review.earlier_code import EarlierCode
from oi_tui.engine.review.findings import Findings
from oi_tui.engine.review.folder import read_listing
from oi_tui.engine.review.scanner import look_through
from oi_tui.runtimes.remote import far_files, file_answers

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
    here = look_through(language, code, place)
    answer = far_files.answer({"what": "list", "path": "."}, place)
    assert isinstance(answer, file_answers.FileWords)
    earlier = EarlierCode()
    earlier.enter(f"ssh:gpu1\non gpu1, {place}", str(place), read_listing(answer.text, str(place)))
    assert look_through(language, code, Path("/"), earlier) == here
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


def test_a_table_written_to_a_file_that_is_there_replaces_it(place: Path) -> None:
    assert overwritten("sql", "copy t to 'prices.csv'", place) == ["prices.csv"]
    assert overwritten("sql", "copy t to 'new.csv'", place) == []
    assert overwritten("sql", "copy t from 'prices.csv'", place) == []


def test_a_file_outside_of_the_folder_is_named_as_such_and_as_overwritten(place: Path) -> None:
    outside = place.parent / "notes.txt"
    code = f"open({str(outside)!r}, 'w')"
    assert [item.kind for item in look_through("python", code, place).found] == ["writes outside"]
    outside.touch()
    findings = look_through("python", code, place)
    assert [item.kind for item in findings.found] == ["writes outside", "overwrites"]
    assert findings.level == "danger"


def test_files_that_a_target_did_not_list_are_not_said_to_be_overwritten(place: Path) -> None:
    facts: dict[str, object] = {
        "real": str(place),
        "home": "",
        "search_path": [],
        "listed": [],
        "entries": {},
    }
    earlier = EarlierCode()
    earlier.enter("ssh:gpu1\non gpu1", str(place), read_listing(json.dumps(facts), str(place)))
    found = look_through("python", "open('prices.csv', 'w')", place, earlier).found
    assert [item.kind for item in found] == ["writes"]


def test_it_is_a_risk_that_safe_mode_asks_about(place: Path) -> None:
    findings = judge("python", "x = 1\nopen('prices.csv', 'w')", place)
    assert findings.risk_sentences == ["overwrites: prices.csv (line 2)"]
    assert findings.risks_by_line == [(2, "overwrites: prices.csv")]
