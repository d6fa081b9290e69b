"""Tables in files: what they hold, in pages, sorted and filtered."""

import gzip
import io
import json
import lzma
import re
import sqlite3
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from oi_tui.input import table_readers
from oi_tui.input.table_file import TableFile
from oi_tui.input.text_encoding import detect_encoding
from oi_tui.runtimes.tables import TableError, TableQuery

CSV = 'name,zip,price\nAnna,00123,10\nBob,00077,9.5\n"Zoë, the 1st",10115,\nDan,00001,100\n'


@pytest.fixture
def opened() -> Iterator[Callable[..., TableFile]]:
    """Opens files, and closes them after the test."""
    tables: list[TableFile] = []

    def open_file(path: Path, table: str = "") -> TableFile:
        tables.append(TableFile(path, table))
        return tables[-1]

    yield open_file
    for table in tables:
        table.close()


@pytest.fixture
def prices(tmp_path: Path, opened: Callable[..., TableFile]) -> TableFile:
    (tmp_path / "prices.csv").write_text(CSV, encoding="utf-8")
    return opened(tmp_path / "prices.csv")


def cells(table: TableFile, view: TableQuery) -> list[tuple[str | None, ...]]:
    return [row.cells for row in table.page(view, 0, 100, 0, 100)]


def test_a_csv_file_keeps_its_texts_and_knows_its_types(prices: TableFile) -> None:
    shape = prices.shape(TableQuery())
    assert [(c.name, c.type, c.numeric) for c in shape.columns] == [
        ("name", "text", False),
        ("zip", "text", False),
        ("price", "float", True),
    ]
    assert shape.rows == shape.total == 4
    assert cells(prices, TableQuery())[2] == ("Zoë, the 1st", "10115", None)
    assert cells(prices, TableQuery())[0] == ("Anna", "00123", "10")


def test_numbers_sort_as_numbers_and_missing_ones_come_last(prices: TableFile) -> None:
    assert [row[2] for row in cells(prices, TableQuery(sort=2))] == ["9.5", "10", "100", None]
    assert [row[2] for row in cells(prices, TableQuery(sort=2, descending=True))] == [
        "100",
        "10",
        "9.5",
        None,
    ]


@pytest.mark.parametrize("word", ["n/a", "N/A", "<NA>", "#N/A", "-nan", "NULL", " n/a "])
def test_words_for_missing_values_leave_a_column_its_numbers(
    word: str, tmp_path: Path, opened: Callable[..., TableFile]
) -> None:
    (tmp_path / "gaps.csv").write_text(f"name,price\na,10\nb,{word}\nc,9.5\n", encoding="utf-8")
    table = opened(tmp_path / "gaps.csv")
    assert [column.type for column in table.shape(TableQuery()).columns] == ["text", "float"]
    assert [row[1] for row in cells(table, TableQuery(sort=1))] == ["9.5", "10", None]


def test_a_filter_takes_its_text_literally(prices: TableFile) -> None:
    assert [row[0] for row in cells(prices, TableQuery(words="anNA"))] == ["Anna"]
    assert prices.shape(TableQuery(words="%")).rows == 0
    assert prices.shape(TableQuery(words="_")).rows == 0
    assert prices.shape(TableQuery(words="1")).rows == 3


@pytest.mark.parametrize(
    ("words", "rows"),
    [
        ("price > 9", "b d"),
        ("PRICE>=9", "b c d"),
        ("price = 9.0", "c"),
        ("price != 9", "a b d"),
        ("price = missing", "e"),
        ("name = b", "b"),
        ("name == 'b'", "b"),
        ("name > c", "d e"),
        ("day >= 2024-02-01", "c d"),
        ("mixed < 10", "b"),
        ("many > 2000", "b"),
        ("nothing > 5", ""),
        ("a > 1", "d"),
    ],
)
def test_a_filter_may_be_a_condition_on_a_column(
    words: str, rows: str, tmp_path: Path, opened: Callable[..., TableFile]
) -> None:
    (tmp_path / "dirty.csv").write_text(
        'name,price,day,mixed,many\na,-8,2023-12-31,-,"1,500"\nb,10,2024-01-02,2,"2,500"\n'
        'c,9,2024-02-01,x,"1,000"\nd,1e3,2024-10-01,a > 1,7\ne,,,,\n',
        encoding="utf-8",
    )
    table = opened(tmp_path / "dirty.csv")
    assert " ".join(row[0] or "" for row in cells(table, TableQuery(words=words))) == rows
    assert table.shape(TableQuery(words=words)).rows == len(rows.split())


WIDE = 4100


@pytest.fixture
def wide(tmp_path: Path, opened: Callable[..., TableFile]) -> TableFile:
    """A file with more columns than a table of SQLite has; the last row has another three."""
    rows = [f"s{row},{','.join(str(row * WIDE + at) for at in range(1, WIDE))}" for row in range(3)]
    names = ",".join(f"gene {at}" for at in range(WIDE))
    (tmp_path / "genes.csv").write_text("\n".join([names, *rows, f"s3{',' * (WIDE + 2)}x"]), encoding="utf-8")
    return opened(tmp_path / "genes.csv")


def test_a_file_may_have_many_thousand_columns(wide: TableFile) -> None:
    shape = wide.shape(TableQuery())
    assert len(shape.columns) == WIDE + 3
    assert [shape.columns[at].name for at in (0, 2000, WIDE - 1, WIDE)] == [
        *("gene 0", "gene 2000", f"gene {WIDE - 1}"),
        f"column {WIDE + 1}",
    ]
    assert shape.columns[4000].numeric
    # A page across two of the tables, and a whole row.
    page = wide.page(TableQuery(), 1, 1, 1990, 20)
    assert page[0].cells == tuple(str(WIDE + at) for at in range(1990, 2010))
    (last,) = wide.page(TableQuery(), 3, 1, 0, WIDE + 3)
    assert (len(last.cells), last.cells[0], last.cells[-1]) == (WIDE + 3, "s3", "x")
    assert set(last.cells[1:-1]) == {None}


def test_a_wide_file_is_sorted_filtered_and_described_by_any_column(wide: TableFile) -> None:
    backwards = TableQuery(sort=4050, descending=True)
    assert [row.cells for row in wide.page(backwards, 0, 9, 0, 1)] == [("s2",), ("s1",), ("s0",), ("s3",)]
    for words, rows in (
        ("gene 4050 > 5000", ["s1", "s2"]),
        ("gene 2001 = missing", ["s3"]),
        (str(2 * WIDE + 4060), ["s2"]),
        ("nowhere", []),
    ):
        view = TableQuery(words=words, sort=2500)
        assert [row.cells[0] for row in wide.page(view, 0, 9, 0, 1)] == rows, words
        assert wide.shape(view).rows == len(rows)
        assert [row.cells for row in wide.page(view, 0, 9, WIDE + 2, 1)] == [
            ("x" if row == "s3" else None,) for row in rows
        ]
    assert dict(wide.statistics(4050).facts)["max"] == str(2 * WIDE + 4050)


def test_more_columns_than_can_be_opened_are_refused_with_their_number(
    tmp_path: Path, opened: Callable[..., TableFile]
) -> None:
    (tmp_path / "a.csv").write_text("," * 128_000 + "\n", encoding="utf-8")
    with pytest.raises(TableError, match="128,001 columns; at most 128,000"):
        opened(tmp_path / "a.csv")


def test_a_column_in_figures(prices: TableFile) -> None:
    found = prices.statistics(2)
    assert dict(found.facts) == {
        "rows": "4",
        "missing": "1",
        "distinct": "3",
        "min": "9.5",
        "25 %": "9.75",
        "median": "10",
        "mean": "39.83333",
        "75 %": "55",
        "max": "100",
        "std": "52.10646",
    }
    assert sum(many for _, many in found.bars) == 3
    assert prices.statistics(0).bars[0][1] == 1


def test_the_median_of_an_even_number_of_rows_is_between_two_of_them(
    tmp_path: Path, opened: Callable[..., TableFile]
) -> None:
    (tmp_path / "a.csv").write_text("x,id\n4,123456789012\n1,1\n2,2\n10,3\n", encoding="utf-8")
    table = opened(tmp_path / "a.csv")
    assert dict(table.statistics(0).facts)["median"] == "3"
    figures = dict(table.statistics(1).facts)
    assert (figures["median"], figures["max"]) == ("2.5", "123456789012")


@pytest.mark.parametrize("words", ["жди", "ЖДИ", "[жДИ", "*дИ?", "zOË"])
def test_a_filter_finds_letters_of_all_languages_in_small_and_as_capitals(
    tmp_path: Path, opened: Callable[..., TableFile], words: str
) -> None:
    lines = ("city", "Жди", "ЖДИ", "Дним", "[жди", "*ди?", "Zoë")
    (tmp_path / "a.csv").write_text("\n".join(lines), encoding="utf-8")
    found = [row[0] for row in cells(opened(tmp_path / "a.csv"), TableQuery(words=words))]
    assert found == [line for line in lines[1:] if words.lower() in line.lower()]
    assert found


OLD_OFFICE = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(3000)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.xlsx", b"", "it is empty."),
        ("a.xlsx", b"a,b\n1,2\n", "it is text. Give it a name"),
        ("a.xlsx", OLD_OFFICE, "it is an Excel file from before 2007. Rename it to .xls"),
        (
            "a.xlsx",
            OLD_OFFICE[:-20] + "EncryptedPackage".encode("utf-16-le"),
            "it has a password. Save a copy",
        ),
        ("a.xlsx", b"PK\x03\x04 and no more", "it is cut off or damaged."),
        ("a.xlsx", b"PAR1 and more", "it is a Parquet file. Give it a name that ends in .parquet"),
        ("a.parquet", b"PAR1 and no more", "it is cut off or damaged."),
        ("a.parquet", b"PK\x03\x04", "it is a zip archive or a workbook. Give it a name that ends"),
        ("a.arrow", b"ARROW1 and no more", "it is cut off or damaged."),
        ("a.feather", b'{"a": 1}', "it is text. Give it a name"),
    ],
)
def test_what_is_wrong_with_a_file_for_a_library_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: bytes, words: str
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    # Words are found where two pieces meet, too.
    monkeypatch.setattr(table_readers, "_PIECE", 1001)
    for library in ("openpyxl/reader/excel", "pyarrow/parquet"):
        module = tmp_path / f"{library}.py"
        module.parent.mkdir(parents=True)
        module.write_text("raise ValueError('File is not a zip file')")
        for folder in module.relative_to(tmp_path).parents:
            (tmp_path / folder / "__init__.py").touch()
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TableError) as raised:
        TableFile(tmp_path / name)
    assert str(raised.value).startswith(f"{name} cannot be read as a table: {words}")


@pytest.mark.parametrize(("name", "text"), [("a.tsv", "x\ty\n1\t2\n"), ("a.csv", "x;y\n1;2\n")])
def test_the_delimiter_is_found(
    tmp_path: Path, opened: Callable[..., TableFile], name: str, text: str
) -> None:
    (tmp_path / name).write_text(text)
    table = opened(tmp_path / name)
    assert [column.name for column in table.shape(TableQuery()).columns] == ["x", "y"]
    assert cells(table, TableQuery()) == [("1", "2")]


#: What is wrong with files, and what is read: the kind, the names and the rows.
ODD_FILES = {
    "decimal commas": (
        "Name;Preis\nÄpfel;1.234,5\nBirnen;0,99\n".encode("cp1252"),
        "CSV with semicolons, Windows-1252",
        "Name Preis",
        ["Äpfel|1.234,5", "Birnen|0,99"],
    ),
    "UTF-16": ("a,b\nä,1\n".encode("utf-16"), "CSV, UTF-16", "a b", ["ä|1"]),
    "UTF-16 without a mark": ("a,b\nä,1\n".encode("utf-16-be"), "CSV, UTF-16-BE", "a b", ["ä|1"]),
    "rows of other lengths": (
        b"a,b,c\n1,2\n1,2,3,4\n\n7,8,9,\n",
        "CSV, 1 row longer than the names, 1 shorter row",
        "a b c 4",
        ["1|2||", "1|2|3|4", "7|8|9|"],
    ),
    "a quotation mark at the end": (
        b'a,b\n1,"x\n2,y\n',
        "CSV, 1 row with an open quotation mark",
        "a b",
        ['1|"x', "2|y"],
    ),
    "more lines in a cell than a mistake has": (
        b'a,b\n1,"' + b"x\n" * 6000 + b'y"\n2,z\n',
        "CSV",
        "a b",
        ["1|" + "x\\n" * 100 + "…", "2|z"],
    ),
    "a mark that the next cell seems to close": (
        b'a,b\n1,"x\n' + b"2,y\n" * 6000 + b'3,"z"\n',
        "CSV, 1 row with an open quotation mark",
        "a b",
        ['1|"x', *["2|y"] * 99],
    ),
    "lines in a cell": (b'a,b\n1,"x\ny"\n2,"z\n', "CSV, 1 row with an open", "a b", ["1|x\\ny", '2|"z']),
    "a title": (
        b"Report\n\nname,n,m\na,1,2\n",
        "CSV, 1 line above the names left out",
        "name n m",
        ["a|1|2"],
    ),
    "a named delimiter": (b"sep=|\na|b\n1|2,3\n", "CSV with bars", "a b", ["1|2,3"]),
    "no names": (b"1,2\n3,4\n", "CSV", "1 2", ["1|2", "3|4"]),
    "years as names": (b"2019,2020\n1,2\n", "CSV", "2019 2020", ["1|2"]),
    "names of R": (b'"mpg","cyl"\n"Mazda",21,6\n', "CSV", "1 mpg cyl", ["Mazda|21|6"]),
    "escaped marks": (b'a,b\n1,"say \\"hi\\", ok"\n', "CSV", "a b", ['1|say "hi", ok']),
    "spaces within a quoted cell": (
        b'a,b\n"O\'Neil, ""Bob""",  x  \ny,1\n',
        "CSV",
        "a b",
        ['O\'Neil, "Bob"|  x  ', "y|1"],
    ),
    "spaces before marks": (b'a, b\n1, "x, y"\n', "CSV", "a b", ["1|x, y"]),
    "one column": (b"word\nhello\nhello, again\n", "CSV", "word", ["hello", "hello, again"]),
    "semicolons in texts": (b"id,text\n1,a; b\n2,c\n", "CSV", "id text", ["1|a; b", "2|c"]),
    "old line ends": (b"a,b\r1,2\r", "CSV", "a b", ["1|2"]),
    "the same name twice": (b"a,a\n1,2\n", "CSV", "a a", ["1|2"]),
    "nothing": (b"", "CSV", "", []),
    "a cell of 300,000 characters": (b"a,b\n1," + b"x" * 300_000, "CSV", "a b", ["1|" + "x" * 200 + "…"]),
}


@pytest.mark.parametrize("case", ODD_FILES)
def test_odd_files_are_read_as_they_are_meant(
    tmp_path: Path, opened: Callable[..., TableFile], case: str
) -> None:
    data, kind, names, rows = ODD_FILES[case]
    (tmp_path / "odd.csv").write_bytes(data)
    table = opened(tmp_path / "odd.csv")
    shape = table.shape(TableQuery())
    assert shape.kind.startswith(kind)
    assert " ".join(column.name.removeprefix("column ") for column in shape.columns) == names
    assert ["|".join(cell or "" for cell in row) for row in cells(table, TableQuery())] == rows
    for column in range(len(shape.columns)):
        table.statistics(column)


#: A few lines, as they stand in a short file, by their encoding.
SHORT_TEXTS = {
    "cp932": ("都市,人口", "東京,1400", "大阪,880"),
    "euc-jp": ("商品,価格", "りんご,100"),
    "cp949": ("도시,인구", "서울,1000", "부산,300"),
    "gb18030": ("姓名,年龄", "张伟,30", "王芳,25"),
    "cp950": ("城市,人口", "臺北,260", "高雄,270"),
    "cp1251": ("город,население", "Москва,12", "Казань,1"),
    "koi8-r": ("город,население", "Москва,12"),
    "cp866": ("город,население", "Москва,12"),
    "mac-roman": ("Name,Ort", "Müller,Köln", "René,Orléans"),
    "cp850": ("Name,Ort", "Müller,Köln", "Jürgen,Düsseldorf"),
    "cp1250": ("imię,miasto", "Łukasz,Łódź", "Joanna,Gdańsk"),
    "cp1254": ("ad,şehir", "Işık,Muğla", "Ali,İzmir"),  # noqa: RUF001
    "iso8859-2": ("jméno,město", "Luboš,Třebíč", "Šárka,Kopřivnice"),
    "cp852": ("név,város", "Győző,Győr", "Éva,Székesfehérvár"),
    "cp1253": ("Όνομα,Πόλη", "Γιώργος,Αθήνα"),
    "cp1255": ("שם,עיר", "דוד,ירושלים"),
    "cp1256": ("الاسم,المدينة", "محمد,القاهرة"),
    "cp874": ("ชื่อ,เมือง", "สมชาย,กรุงเทพ"),
}


@pytest.mark.parametrize("encoding", SHORT_TEXTS)
def test_encodings_from_before_utf_8_are_found_in_short_files(
    tmp_path: Path, opened: Callable[..., TableFile], encoding: str
) -> None:
    lines = SHORT_TEXTS[encoding]
    (tmp_path / "a.csv").write_bytes("\n".join(lines).encode(encoding))
    table = opened(tmp_path / "a.csv")
    read = [[column.name for column in table.shape(TableQuery()).columns]]
    read += [[cell or "" for cell in row] for row in cells(table, TableQuery())]
    assert [",".join(row) for row in read] == list(lines)
    assert encoding.upper() in table.kind


@pytest.mark.parametrize(
    "text",
    [
        *(
            "nom,ville\nRené,Orléans\n",
            "Müller;Köln\n",
            "price\n£5\n10€\n",
            "temp\n20°C\n",
            "crème brûlée,5\n",
        ),
        *("it’s,“quoted” – yes\n", "Þór,Ísafjörður\n", "Øresund,Æble,Å\n", "¿Qué?,Mañana\n", "µm,²,±3\n"),  # noqa: RUF001
        *("Määrä,Hyvää yötä\n", "São Paulo,Ação\n", "l’été,œuvre\n"),  # noqa: RUF001
        *("città,perché\nForlì,più\n", "població,què\nòpera,això\n", "Võru,Põlva\nkõik,sõna\n"),
        *("Hélène,août\nFrançois,sœur\n", "João,ações\nirmã,mãe\n", "Jørgen,Bærum\n", "Gdynia,Ñuñoa\n"),
    ],
)
def test_a_short_text_in_windows_1252_is_taken_for_nothing_else(text: str) -> None:
    # It is read as UTF-8, in which each single byte that is none is a letter of Windows-1252.
    assert detect_encoding(text.encode("cp1252")) == "utf-8"


@pytest.mark.parametrize(
    "text",
    [
        # Czech, Slovak, Hungarian, Croatian, Romanian: few letters are other ones than in Windows-1252.
        *("město,počet\nBrno,3\nPlzeň,4\n", "id,jméno\n1,Dvořák\n2,Novák\n3,Jiří\n"),
        *("meno,vek\nĽuboš,3\nŠtefan,4\n", "név;ár\nkörte;120\nszőlő;300\n"),
        *("id;név\n1;Szabó\n2;Tóth\n3;Kőszegi\n4;Győző\n", "ime,grad\nŽeljko,Čakovec\n"),
        "nume,oraş\nŞtefan,Iaşi\nIonuţ,Timişoara\n",
    ],
)
def test_a_short_text_in_windows_1250_is_not_taken_for_windows_1252(text: str) -> None:
    assert text.encode("cp1250").decode(detect_encoding(text.encode("cp1250"))) == text


def test_a_broken_byte_leaves_utf_8_what_it_is() -> None:
    assert detect_encoding("東京,1400\n大阪,880\n".encode() + b"\xe4\xba") == "utf-8"


def test_numbers_with_commas_are_sorted_and_added_as_numbers(
    tmp_path: Path, opened: Callable[..., TableFile]
) -> None:
    (tmp_path / "a.csv").write_text('n\n"1,234"\n"12,000.5"\n7\n')
    (tmp_path / "b.csv").write_text("n;m\n1.234,5;1\n99,25;2\n7;3\n")
    (tmp_path / "c.csv").write_text("n;m\n12 345,50;1\n99,25;2\n1\u202f200,0;3\n", encoding="utf-8")
    (tmp_path / "d.csv").write_text("n;m\n1'234.5;1\n99.25;2\n7;3\n")
    for name, order, highest in (
        ("a.csv", ["7", "1,234", "12,000.5"], "12000.5"),
        ("b.csv", ["7", "99,25", "1.234,5"], "1234.5"),
        ("c.csv", ["99,25", "1\u202f200,0", "12 345,50"], "12345.5"),
        ("d.csv", ["7", "99.25", "1'234.5"], "1234.5"),
    ):
        table = opened(tmp_path / name)
        assert [row[0] for row in cells(table, TableQuery(sort=0))] == order
        assert dict(table.statistics(0).facts)["max"] == highest
        assert table.shape(TableQuery()).columns[0].type == "float"
        assert table.shape(TableQuery(words="n > 100")).rows == sum(
            row not in ("7", "99,25", "99.25") for row in order
        )


def test_telephone_numbers_with_spaces_are_no_numbers(
    tmp_path: Path, opened: Callable[..., TableFile]
) -> None:
    (tmp_path / "a.csv").write_text("price;phone\n1 234,5;602 123 456\n2,5;777 000 111\n")
    assert [column.type for column in opened(tmp_path / "a.csv").shape(TableQuery()).columns] == [
        "float",
        "text",
    ]


def test_packed_files_are_read(tmp_path: Path, opened: Callable[..., TableFile]) -> None:
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"a,b\n1,2\n"))
    (tmp_path / "a.jsonl.xz").write_bytes(lzma.compress(b'{"a": 1, "b": 2}\n'))
    with zipfile.ZipFile(tmp_path / "a.csv.zip", "w") as archive:
        archive.writestr("a.csv", "a,b\n1,2\n")
    for name in ("a.csv.gz", "a.jsonl.xz", "a.csv.zip"):
        assert cells(opened(tmp_path / name), TableQuery()) == [("1", "2")]


def test_the_tables_of_an_archive_are_named(tmp_path: Path, opened: Callable[..., TableFile]) -> None:
    files = {"one.csv": "a,b\n1,2\n", "deep/two.json": '[{"c": 3}]', "README.txt": "see, both", "x.png": "x"}
    (tmp_path / "data.zip").write_bytes(_zip(files))
    table = opened(tmp_path / "data.zip")
    assert (table.name, table.tables) == ("data.zip::one.csv", ("one.csv", "deep/two.json"))
    assert cells(table, TableQuery()) == [("1", "2")]
    other = table.open_other("deep/two.json")
    assert cells(other, TableQuery()) == [("3",)]
    other.close()
    with pytest.raises(TableError, match=r"has no table three\.csv; it has one\.csv, deep/two\.json"):
        TableFile(tmp_path / "data.zip", "three.csv")
    (tmp_path / "one.zip").write_bytes(_zip({"deep/one.csv": "a\n1\n", "LICENSE": "free"}))
    assert opened(tmp_path / "one.zip").name == "one.zip"


def test_a_file_is_unpacked_by_what_it_holds(tmp_path: Path, opened: Callable[..., TableFile]) -> None:
    """A browser unpacks some files and leaves their names, and servers send packed ones as .csv."""
    (tmp_path / "a.csv").write_bytes(gzip.compress(b"a,b\n1,2\n"))
    (tmp_path / "b.csv.gz").write_bytes(b"a,b\n1,2\n")
    for name in ("a.csv", "b.csv.gz"):
        assert cells(opened(tmp_path / name), TableQuery()) == [("1", "2")]


@pytest.mark.parametrize(
    ("name", "text", "kind", "row"),
    [
        ("a.txt", "n\tk\n1\tx y\n2\tz u\n", "Text with tabs", ("1", "x y")),
        ("a.txt", "n;k\n1,5;x\n2,5;z\n", "Text with semicolons", ("1,5", "x")),
        ("a.dat", "   x    y\n   1  2.5  \n  10  3.5\n", "Text with spaces", ("1", "2.5")),
        ("a.data", '18.0  8\t"a b"\n15.0  9\t"c d"\n', "Text with spaces", ("15.0", "9", "c d")),
        ("a.txt", "1\n2\n3\n", "Text", ("1",)),
        ("a.txt", "Ann Lee 5\nBob Ray 6\n", "Text with spaces", ("Bob", "Ray", "6")),
        ("a.psv", "n|k\n1|x\n", "PSV", ("1", "x")),
    ],
    ids=["tabs", "semicolons", "aligned", "spaces and tabs", "one column", "words and numbers", "bars"],
)
def test_texts_are_tables_where_their_lines_have_columns(
    tmp_path: Path, opened: Callable[..., TableFile], name: str, text: str, kind: str, row: tuple[str, ...]
) -> None:
    (tmp_path / name).write_text(text)
    table = opened(tmp_path / name)
    assert table.shape(TableQuery()).kind == kind
    assert row in cells(table, TableQuery())


@pytest.mark.parametrize("name", ["a.geojson", "a.json"])
def test_features_of_geojson_are_rows(tmp_path: Path, opened: Callable[..., TableFile], name: str) -> None:
    point = {"type": "Point", "coordinates": [1, 2]}
    features = [
        {"type": "Feature", "id": 7, "properties": {"city": "Bonn"}, "geometry": point},
        {"type": "Feature", "properties": None, "geometry": None},
    ]
    (tmp_path / name).write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    table = opened(tmp_path / name)
    assert [column.name for column in table.shape(TableQuery()).columns] == ["id", "city", "geometry"]
    assert cells(table, TableQuery()) == [("7", "Bonn", json.dumps(point)), (None, None, None)]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("5.1,3.5,1.4,0.2,setosa\n4.9,3.0,1.4,0.2,setosa\n", 2),
        ("39, State-gov, 77516, BSc, 13\n50, Private, 83311, MSc, 14\n38, Private, 215646, HS, 9\n", 3),
        ("0,0,x\n1,2,y\n", 2),
        # These are names.
        ("city,2019,2020\nBonn,1,2\nKiel,3,4\n", 2),
        ("city,10,20\nBonn,1,2\nKiel,3,4\n", 2),
        ("5,price,x\n1,2,y\n2,3,z\n", 2),
        ("7,x\n1,y\n", 1),
    ],
    ids=["iris", "integers", "equal", "years", "increasing", "one number", "one column"],
)
def test_a_first_row_that_is_like_the_others_gives_no_names(
    tmp_path: Path, opened: Callable[..., TableFile], text: str, rows: int
) -> None:
    (tmp_path / "a.csv").write_text(text)
    assert opened(tmp_path / "a.csv").shape(TableQuery()).total == rows


def test_a_feature_and_lines_of_features_are_rows(tmp_path: Path, opened: Callable[..., TableFile]) -> None:
    feature = {"type": "Feature", "bbox": [1], "properties": {"city": "Bonn"}, "geometry": None}
    (tmp_path / "one.geojson").write_text(json.dumps(feature))
    (tmp_path / "two.geojson").write_text(f"{json.dumps(feature)}\n" * 2)
    for name, rows in (("one.geojson", 1), ("two.geojson", 2)):
        assert cells(opened(tmp_path / name), TableQuery()) == [("[1]", "Bonn", None)] * rows
    # What only looks like one loses nothing.
    (tmp_path / "other.json").write_text('[{"type": "Feature", "geometry": "thick", "x": 1}]')
    assert cells(opened(tmp_path / "other.json"), TableQuery()) == [("Feature", "thick", "1")]


def test_infinite_numbers_may_be_among_those_with_commas(
    tmp_path: Path, opened: Callable[..., TableFile]
) -> None:
    (tmp_path / "a.csv").write_text("a;b\nInf;x\n1,5;y\n-Inf;z\n20,5;w\n")
    table = opened(tmp_path / "a.csv")
    assert [row[0] for row in cells(table, TableQuery(sort=0))] == ["-Inf", "1,5", "20,5", "Inf"]
    assert [row[0] for row in cells(table, TableQuery(words="a > 10"))] == ["Inf", "20,5"]
    assert ("max", "inf") in table.statistics(0).facts


def test_infinite_numbers_leave_a_column_its_numbers(
    tmp_path: Path, opened: Callable[..., TableFile]
) -> None:
    (tmp_path / "a.csv").write_text("a,b\n1.5,inf\ninf,Inf\n-Infinity,inf\n,inf\n+Inf,inf\n20,inf\n")
    table = opened(tmp_path / "a.csv")
    assert [(c.type, c.numeric) for c in table.shape(TableQuery()).columns] == [("float", True)] * 2
    texts = [row[0] for row in cells(table, TableQuery(sort=0))]
    assert texts == ["-Infinity", "1.5", "20", "inf", "+Inf", None]
    assert [row[0] for row in cells(table, TableQuery(words="a > 10"))] == ["inf", "+Inf", "20"]
    figures = table.statistics(0)
    assert ("max", "inf") in figures.facts
    assert sum(many for _, many in figures.bars) == 2
    assert not table.statistics(1).bars


@pytest.mark.parametrize(
    "text",
    [
        '{"a": [1, 2], "b": ["x", null]}',
        '{"meta": {"n": 1}, "data": [{"a": 1, "b": "x"}, {"a": 2}]}',
        '[["a", "b"], [1, "x"], [2, null]]',
    ],
    ids=["columns", "list in an object", "lists"],
)
def test_other_forms_of_json(tmp_path: Path, opened: Callable[..., TableFile], text: str) -> None:
    (tmp_path / "a.json").write_text(text)
    table = opened(tmp_path / "a.json")
    assert [column.name for column in table.shape(TableQuery()).columns] == ["a", "b"]
    assert cells(table, TableQuery()) == [("1", "x"), ("2", None)]


def test_json_lines_may_grow_columns_and_end_in_the_middle(
    tmp_path: Path, opened: Callable[..., TableFile]
) -> None:
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n' * 1500 + '{"a": 2, "z": 3}\n{"a": ')
    table = opened(tmp_path / "a.jsonl")
    shape = table.shape(TableQuery())
    assert shape.kind == "JSON lines, the last line is cut off"
    assert (shape.total, [column.name for column in shape.columns]) == (1501, ["a", "z"])
    assert table.page(TableQuery(), 1500, 1, 0, 2)[0].cells == ("2", "3")


@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_records_of_json(tmp_path: Path, opened: Callable[..., TableFile], name: str) -> None:
    records = [{"a": 1, "b": [1, 2]}, {"a": None, "c": "x"}]
    lines = name.endswith("l")
    text = "\n".join(map(json.dumps, records)) if lines else json.dumps(records)
    (tmp_path / name).write_text(text)
    table = opened(tmp_path / name)
    assert [(c.name, c.type) for c in table.shape(TableQuery()).columns] == [
        ("a", "int"),
        ("b", "text"),
        ("c", "text"),
    ]
    assert cells(table, TableQuery()) == [("1", "[1, 2]", None), (None, None, "x")]


def test_tables_of_a_database_are_named(tmp_path: Path, opened: Callable[..., TableFile]) -> None:
    database = sqlite3.connect(tmp_path / "a.db")
    database.execute("CREATE TABLE one (n INTEGER, 'odd \"name' TEXT)")
    database.execute("INSERT INTO one VALUES (7, 'x')")
    database.execute("CREATE TABLE two (n INTEGER)")
    database.commit()
    database.close()
    with pytest.raises(TableError, match=r"a\.db has no table three; it has one, two"):
        TableFile(tmp_path / "a.db", "three")
    table = opened(tmp_path / "a.db")
    assert (table.name, table.table, table.tables) == ("a.db::one", "one", ("one", "two"))
    assert cells(table, TableQuery(sort=1, words="x")) == [("7", "x")]
    assert table.shape(TableQuery()).columns[0].numeric
    other = table.open_other("two")
    assert other.name == "a.db::two"
    other.close()


def _zip(files: dict[str, str]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return packed.getvalue()


def _write_zip_with_password() -> bytes:
    """A zip archive whose file says that it is encrypted."""
    data = bytearray(_zip({"a.csv": "a,b\n1,2\n"}))
    for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + flags] |= 1
    return bytes(data)


_ZIP_WITH_PASSWORD = _write_zip_with_password()


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.json", b"{}", "holds no list"),
        ("a.json", b"{", "cannot be read"),
        ("a.json", b'{"a": [{"b": 1}], "c": [{"d": 2}]}', "holds no list"),
        ("a.jsonl", b"1\n", "each record must be a JSON object"),
        ("a.jsonl", b'{"a": 1}\n{"a":\n{"a": 2}\n', "line 2: each record must be a JSON object"),
        ("a.csv.gz", gzip.compress(b"a,b\n" + b"1,2\n" * 1000)[:-20], "cannot be read"),
        ("a.csv.zip", b"no archive", "cannot be read"),
        ("a.csv.gz", gzip.compress(b"a,b\n")[:10] + b"\xff" * 30, "cannot be read"),
        ("a.csv.xz", lzma.compress(b"a,b\n")[:20] + b"\xff" * 30, "cannot be read"),
        ("a.csv.zip", _ZIP_WITH_PASSWORD, "cannot be read as a table: .*password"),
        ("a.json", b'{"a": 1}\n[7]\n', "line 2: each record must be a JSON object"),
        ("a.xlsx.gz", b"", "cannot be opened as a table"),
        ("a.db", b"not a database, at all", "cannot be read"),
        (
            "a.txt",
            b"Dear all,\nthis is no table.\n\nBut it has, as you see, commas.\n",
            "no columns are found in its lines",
        ),
        ("a.txt", b"\n \n", "is not a table: it is empty"),
        ("a.txt", b"roses are red\nviolets are blue\n", "no columns are found"),
        ("a.dta", b"x", r"Read it with code \(pandas.read_stata\)"),
        ("a.csv", b"PAR1" + bytes(range(256)), "is a Parquet file, not text"),
        ("a.csv", bytes(range(256)) * 20, "holds no text"),
        ("a.zip", _zip({"a.parquet": "x"}), "holds no text file that opens as a table"),
        ("a.jsonl", b'{"a": 1}\n' * 1000 + b"7\n", "each record must be a JSON object"),
    ],
    ids=[
        "object",
        "torn",
        "two lists",
        "number",
        "broken line",
        "torn archive",
        "no archive",
        "damaged gzip",
        "damaged xz",
        "password",
        "lines of others",
        "packed book",
        "database",
        "prose",
        "blank lines",
        "poem",
        "Stata",
        "Parquet by content",
        "no text",
        "archive without tables",
        "late number",
    ],
)
def test_what_is_no_table_is_refused_in_a_sentence(
    tmp_path: Path, name: str, data: bytes, words: str
) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(TableError, match=words):
        TableFile(tmp_path / name)


@pytest.mark.parametrize(
    ("text", "names", "rows"),
    [
        # As pandas writes the row labels: their column has no name.
        (",value\nA,x\nB,y\n", ["column 1", "value"], 2),
        (",value\n0,1\n1,2\n", ["column 1", "value"], 2),
        ("category,\nA,1\nB,2\n", ["category", "column 2"], 2),
        ("name,age,,\nAda,36,x,1\nBob,4,y,2\n", ["name", "age", "column 3", "column 4"], 2),
        ("a,a,,\n1,2,3,4\n", ["a", "a", "column 3", "column 4"], 1),
        # Titles and facts above the names.
        ("Report,,\nname,age,city\nA,1,x\n", ["name", "age", "city"], 1),
        ("Made,2024-01-01,,\nRows,5,,\nname,age,city,zip\nA,1,x,2\n", ["name", "age", "city", "zip"], 1),
        ("Q1,,Q2,\na,b,c,d\n1,2,3,4\n", ["a", "b", "c", "d"], 1),
    ],
)
def test_names_are_found_where_some_are_missing(
    tmp_path: Path, opened: Callable[..., TableFile], text: str, names: list[str], rows: int
) -> None:
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    shape = opened(tmp_path / "a.csv").shape(TableQuery())
    assert [column.name for column in shape.columns] == names
    assert shape.rows == rows


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", '[{"name": "Müller"}, {"name": "José"}]'),
        ("a.jsonl", '{"name": "Müller"}\n{"name": "José"}\n'),
        ("a.json", '{"data": {"items": [{"name": "Müller"}, {"name": "José"}]}, "meta": {"next": null}}'),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
def test_json_is_read_in_windows_1252_and_below_other_objects(
    tmp_path: Path, opened: Callable[..., TableFile], name: str, text: str, encoding: str
) -> None:
    (tmp_path / name).write_bytes(text.encode(encoding))
    table = opened(tmp_path / name)
    assert [row.cells for row in table.page(TableQuery(), 0, 9, 0, 9)] == [("Müller",), ("José",)]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_json_lines_may_be_called_json_and_be_written_by_powershell(
    tmp_path: Path, opened: Callable[..., TableFile], encoding: str
) -> None:
    (tmp_path / "a.json").write_text('{"a": "é", "b": 1}\n{"a": "ü", "b": 2}\n', encoding=encoding)
    (tmp_path / "b.json").write_text('[{"a": "é", "b": 1}, {"a": "ü", "b": 2}]', encoding=encoding)
    for name, kind in (("a.json", "JSON lines"), ("b.json", "JSON")):
        table = opened(tmp_path / name)
        assert table.kind == kind
        assert cells(table, TableQuery()) == [("é", "1"), ("ü", "2")]


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="There is no file"):
        TableFile(tmp_path / "none.csv")


def test_parquet_opens_where_its_library_is(tmp_path: Path, opened: Callable[..., TableFile]) -> None:
    arrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    feather = pytest.importorskip("pyarrow.feather", reason="pyarrow is not installed")
    frame = arrow.table([[1, 2], ["x", None]], names=["a", "a"])
    parquet.write_table(frame, tmp_path / "a.parquet")
    feather.write_feather(arrow.table({"a": [1, 2], "b": ["x", None]}), str(tmp_path / "a.feather"))
    for name in ("a.parquet", "a.feather"):
        table = opened(tmp_path / name)
        assert cells(table, TableQuery()) == [("1", "x"), ("2", None)]
        assert [column.type for column in table.shape(TableQuery()).columns] == ["int64", "string"]


def test_a_sheet_shows_formulas_without_values_and_begins_anywhere(
    tmp_path: Path, opened: Callable[..., TableFile]
) -> None:
    excel = pytest.importorskip("openpyxl", reason="openpyxl is not installed")
    book = excel.Workbook()
    for at, value in (("C4", "n"), ("D4", "twice"), ("C5", 2), ("D5", "=C5*2"), ("C6", 3), ("D6", 6)):
        book.active[at] = value
    book.save(tmp_path / "a.xlsx")
    table = opened(tmp_path / "a.xlsx")
    shape = table.shape(TableQuery())
    assert shape.kind == "Excel sheet Sheet, begins at row 4"
    assert [column.name for column in shape.columns] == ["column 1", "column 2", "n", "twice"]
    assert cells(table, TableQuery()) == [(None, None, "2", "=C5*2"), (None, None, "3", "6")]


def test_sheets_of_charts_are_passed_over(tmp_path: Path, opened: Callable[..., TableFile]) -> None:
    excel = pytest.importorskip("openpyxl", reason="openpyxl is not installed")
    book = excel.Workbook()
    book.active.append(["n"])
    book.active.append([1])
    book.create_chartsheet("Chart", 0)
    book.save(tmp_path / "a.xlsx")
    table = opened(tmp_path / "a.xlsx")
    assert (table.tables, cells(table, TableQuery())) == (("Sheet",), [("1",)])
    book.remove(book["Sheet"])
    book.save(tmp_path / "b.xlsx")
    with pytest.raises(TableError, match=r"b\.xlsx has only charts, and no sheet with cells\."):
        opened(tmp_path / "b.xlsx")


def test_excel_opens_where_its_library_is(tmp_path: Path, opened: Callable[..., TableFile]) -> None:
    excel = pytest.importorskip("openpyxl", reason="openpyxl is not installed")
    book = excel.Workbook()
    for row in (["Prices of 2024"], [], ["a", "b", "day"], [1, "x", datetime(2024, 1, 2)], [2.5], [], []):
        book.active.append(row)
    book.create_sheet("More").append(["c"])
    book.save(tmp_path / "a.xlsx")
    table = opened(tmp_path / "a.xlsx")
    shape = table.shape(TableQuery())
    assert shape.kind == "Excel sheet Sheet, begins at row 3"
    assert [(column.name, column.type) for column in shape.columns] == [
        ("a", "float"),
        ("b", "text"),
        ("day", "date"),
    ]
    assert cells(table, TableQuery()) == [("1", "x", "2024-01-02"), ("2.5", None, None)]
    assert (table.name, table.tables) == ("a.xlsx::Sheet", ("Sheet", "More"))
    assert opened(tmp_path / "a.xlsx", "More").shape(TableQuery()).columns[0].name == "c"
    with pytest.raises(TableError, match=r"a\.xlsx has no sheet Less; it has Sheet, More"):
        opened(tmp_path / "a.xlsx", "Less")


def test_a_missing_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "openpyxl.py").write_text("raise ImportError")
    (tmp_path / "a.xlsx").write_bytes(b"")
    with pytest.raises(
        TableError, match="needs the Python package openpyxl, which neither oi-tui nor the Python"
    ):
        TableFile(tmp_path / "a.xlsx")


#: The module of a library that reads workbooks, of which one file holds the rows of its only sheet.
LIBRARY = """
import json, types
def cells(rows):
    return [[types.SimpleNamespace(value=value, number_format="General") for value in row] for row in rows]
class Book(dict):
    worksheets = [types.SimpleNamespace(title="One")]
class ExcelReader:
    def __init__(self, path, **how):
        self.path = path
    def read(self):
        rows = json.load(open(self.path))
        self.wb = Book(One=types.SimpleNamespace(iter_rows=lambda: cells(rows)))
"""


def test_the_library_of_another_python_reads_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "ours"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-this-test")
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours" / "openpyxl.py").write_text("raise ImportError")
    package = tmp_path / "theirs" / "openpyxl" / "reader"
    package.mkdir(parents=True)
    for module, text in (("../__init__", ""), ("__init__", ""), ("excel", LIBRARY)):
        (package / f"{module}.py").write_text(text)
    python = tmp_path / "python"
    python.write_text(
        f'#!/bin/sh\nenv >{tmp_path}/environment\nPYTHONPATH={tmp_path}/theirs exec {sys.executable} "$@"\n'
    )
    python.chmod(0o700)
    rows = [["n", "word"], *([number, f"w{number}"] for number in range(2500)), [None, None]]
    (tmp_path / "a.xlsx").write_text(json.dumps(rows))
    table = TableFile(tmp_path / "a.xlsx", pythons=(str(python),), gradually=True)
    first = table.shape(TableQuery())
    assert (first.kind, first.reading, first.columns[0].type) == ("Excel sheet One", True, "int")
    table.read_on(60)
    assert table.shape(TableQuery()).total == 2500
    assert "OPENAI_API_KEY" not in (tmp_path / "environment").read_text()
    assert cells(table, TableQuery(sort=0, descending=True))[0] == ("2499", "w2499")
    table.close()
    unread = TableFile(tmp_path / "a.xlsx", pythons=(str(python),), gradually=True)
    unread.close()
    (tmp_path / "a.xlsx").write_text("\x02" * 20)
    with pytest.raises(
        TableError, match=r"a\.xlsx cannot be read as a table: json\.decoder\.JSONDecodeError"
    ):
        TableFile(tmp_path / "a.xlsx", pythons=(str(python),))


def test_a_file_is_read_a_part_at_a_time(tmp_path: Path) -> None:
    lines = ["id,zip", *(f"{number},1" for number in range(2400)), "2400,x,more"]
    (tmp_path / "long.csv").write_text("\n".join(lines))
    table = TableFile(tmp_path / "long.csv", gradually=True)
    first = table.shape(TableQuery())
    assert (first.reading, first.total, first.columns[1].type) == (True, 1000, "int")
    assert cells(table, TableQuery(sort=0, descending=True))[0] == ("999", "1")
    assert table.read_on(0)
    assert table.shape(TableQuery()).total == 2000
    assert not table.read_on(60)
    whole = table.shape(TableQuery())
    assert (whole.reading, whole.rows, whole.kind) == (False, 2401, "CSV, 1 row longer than the names")
    assert [column.type for column in whole.columns] == ["int", "text", "text"]
    assert not table.read_on(0)
    table.close()


def test_the_rows_before_a_damaged_part_are_shown(tmp_path: Path) -> None:
    lines = ['{"a": 1}'] * 6000 + ["no record"] + ['{"a": 2}'] * 10
    (tmp_path / "log.jsonl").write_text("\n".join(lines))
    table = TableFile(tmp_path / "log.jsonl", gradually=True)
    assert not table.read_on(60)
    shape = table.shape(TableQuery())
    assert (shape.reading, shape.total) == (False, 6000)
    assert "the rest cannot be read: log.jsonl, line 6001: each record must be a JSON object" in shape.kind
    table.close()


@pytest.mark.parametrize(
    ("text", "names", "first", "kind"),
    [
        ("# v2, by x\n#\na,b\n1,2\n3,4\n", ["a", "b"], ("1", "2"), "CSV, 2 lines of comments (#) skipped"),
        (
            "# by x\n#chrom,start\nchr1,1\nchr2,2\n",
            ["chrom", "start"],
            ("chr1", "1"),
            "CSV, 1 line of comments",
        ),
        ("#,name\n1,ann\n2,bob\n", ["#", "name"], ("1", "ann"), "CSV"),
        ("#,name\nx,ann\ny,bob\n", ["#", "name"], ("x", "ann"), "CSV"),
        ("# x, y\na,b\nc,1\n", ["a", "b"], ("c", "1"), "CSV, 1 line of comments (#) skipped"),
        ("#tag\n#one\n#two\n", ["#tag"], ("#one",), "CSV"),
    ],
)
def test_remarks_above_a_table_are_left_out_unless_they_name_its_columns(
    text: str,
    names: list[str],
    first: tuple[str, ...],
    kind: str,
    tmp_path: Path,
    opened: Callable[..., TableFile],
) -> None:
    (tmp_path / "remarks.csv").write_text(text)
    table = opened(tmp_path / "remarks.csv")
    shape = table.shape(TableQuery())
    assert [column.name for column in shape.columns] == names
    assert cells(table, TableQuery())[0] == first
    assert shape.kind.startswith(kind)


@pytest.mark.parametrize(
    ("value", "names", "rows"),
    [
        ({"a": {"0": 1, "1": 2}, "b": {"0": "x", "1": None}}, ["a", "b"], [("1", "x"), ("2", None)]),
        (
            {"columns": ["a", "b"], "index": [0, 1], "data": [[1, 2], [3, 4]]},
            ["a", "b"],
            [("1", "2"), ("3", "4")],
        ),
        ({"columns": [["a", "x"]], "data": [[1]]}, ["a, x"], [("1",)]),
        (
            {"ann": {"age": 3}, "bob": {"age": 4, "city": "Ulm"}},
            ["column 1", "age", "city"],
            [("ann", "3", None), ("bob", "4", "Ulm")],
        ),
        ([{"a": "\ud800x"}, {"a": "ok"}], ["a"], [("?x",), ("ok",)]),
    ],
)
def test_json_as_pandas_writes_it_and_with_odd_texts(
    value: object,
    names: list[str],
    rows: list[tuple[str | None, ...]],
    tmp_path: Path,
    opened: Callable[..., TableFile],
) -> None:
    (tmp_path / "frame.json").write_text(json.dumps(value))
    table = opened(tmp_path / "frame.json")
    assert [column.name for column in table.shape(TableQuery()).columns] == names
    assert cells(table, TableQuery()) == rows


@pytest.mark.parametrize(
    "text", ["[" * 100_000 + "]" * 100_000, '{"a": {"x": 1}, "b": {"y": 2}}', '{"a": {"x": 1}}']
)
def test_json_that_is_no_table_says_so(text: str, tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text(text)
    with pytest.raises(TableError, match=r"other\.json (cannot be read as|is not) a table"):
        TableFile(tmp_path / "other.json")


def test_a_database_may_have_texts_that_are_no_utf8_and_columns_that_it_computes(
    tmp_path: Path, opened: Callable[..., TableFile]
) -> None:
    database = sqlite3.connect(tmp_path / "odd.db")
    database.executescript(
        "create table odd (a int, twice int generated always as (a * 2), t text);"
        "insert into odd (a, t) values (4, cast(x'fffe41' as text)), (5, 'Köln');"
    )
    database.close()
    table = opened(tmp_path / "odd.db")
    assert [column.name for column in table.shape(TableQuery()).columns] == ["a", "twice", "t"]
    assert cells(table, TableQuery(words="a > 3")) == [("4", "8", "\ufffd\ufffdA"), ("5", "10", "Köln")]


def test_a_table_that_is_closed_gives_up_the_question_that_a_thread_asks(tmp_path: Path) -> None:
    path = tmp_path / "short.csv"
    path.write_text(CSV)
    table = TableFile(path)
    endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
    reasons: list[str] = []

    def ask() -> None:
        try:
            table._ask(endless)
        except TableError as error:
            reasons.append(str(error))

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    limit = time.monotonic() + 10
    while not table._lock.locked() and time.monotonic() < limit:
        pass
    closing = threading.Thread(target=lambda: [table.close() for _ in "twice"], daemon=True)
    closing.start()
    closing.join(10)
    asking.join(10)
    assert not closing.is_alive()
    assert reasons == ["short.csv cannot be read: interrupted"]


def test_pages_of_a_sorted_file_need_no_new_order(tmp_path: Path, opened: Callable[..., TableFile]) -> None:
    path = tmp_path / "long.csv"
    many = 100_000
    path.write_text("n,text\n" + "".join(f"{at * 7919 % many},text {at}\n" for at in range(many)))
    table = opened(path)
    view = TableQuery(sort=0, descending=True, words="n < 50000")
    assert table.shape(view).rows == 50_000
    began = time.process_time()
    for start in range(0, 50_000, 500):
        numbers = [int(row.cells[0] or "") for row in table.page(view, start, 50, 0, 2)]
        assert numbers == list(range(49_999 - start, 49_949 - start, -1))
    # It took 4.6 s on the machine where this was written when each page was sorted again.
    assert time.process_time() - began < 1.5
    assert dict(table.statistics(0).facts)["median"] == "49999.5"


@pytest.mark.parametrize(
    ("delimiter", "kind"),
    [("~", "CSV with tildes"), ("^", "CSV with carets"), ("\x01", "CSV with ctrl+a")],
)
def test_rare_delimiters_are_found(
    tmp_path: Path, opened: Callable[..., TableFile], delimiter: str, kind: str
) -> None:
    path = tmp_path / "rare.csv"
    path.write_text("a,b,c\n1,x,3\n2,y,4\n".replace(",", delimiter))
    shape = (table := opened(path)).shape(TableQuery())
    assert (shape.kind, [column.name for column in shape.columns]) == (kind, ["a", "b", "c"])
    assert table.page(TableQuery(), 0, 1, 0, 3)[0].cells == ("1", "x", "3")


def test_percentages_and_amounts_of_money_are_numbers(
    tmp_path: Path, opened: Callable[..., TableFile]
) -> None:
    path = tmp_path / "money.csv"
    rows = [
        "name,share,price,mixed,code",
        'a,12%,"$1,200.50",$3,007%',
        "b,5.5 %,-$3,€3,1%",
        "c,100%,$20,4,2%",
    ]
    path.write_text("\n".join(rows))
    table = opened(path)
    columns = [(column.type, column.numeric) for column in table.shape(TableQuery()).columns]
    assert columns == [
        ("text", False),
        ("percent", True),
        ("currency", True),
        ("text", False),
        ("text", False),
    ]

    def names(**view: object) -> str:
        return "".join(row.cells[0] or "" for row in table.page(TableQuery(**view), 0, 9, 0, 3))  # type: ignore[arg-type]

    assert (names(sort=1), names(sort=2)) == ("bac", "bca")
    assert (names(words="share > 10"), names(words="share <= 12%"), names(words="price < $21")) == (
        "ac",
        "ab",
        "bc",
    )
    assert table.page(TableQuery(), 1, 1, 1, 2)[0].cells == ("5.5 %", "-$3")
    assert dict(table.statistics(2).facts)["max"] == "1200.5"


def test_percentages_with_decimal_commas_are_numbers(
    tmp_path: Path, opened: Callable[..., TableFile]
) -> None:
    path = tmp_path / "anteile.csv"
    path.write_text("Name;Anteil;Betrag\na;12,5 %;1.200,50 €\nb;7 %;3 €\n")
    table = opened(path)
    assert [column.type for column in table.shape(TableQuery()).columns] == ["text", "percent", "currency"]
    assert dict(table.statistics(1).facts)["max"] == "12.5"
    assert dict(table.statistics(2).facts)["max"] == "1200.5"


def test_numbers_of_json_are_shown_as_they_are_written(
    tmp_path: Path, opened: Callable[..., TableFile]
) -> None:
    path = tmp_path / "exact.jsonl"
    path.write_text(
        '{"n": 1.10, "in": [2.50, {"a": 1e400, "b": "ü"}, null, true]}\n{"n": -Infinity}\n{"n": NaN}\n'
    )
    table = opened(path)
    cells = [row.cells for row in table.page(TableQuery(), 0, 3, 0, 2)]
    assert cells == [
        ("1.10", '[2.50, {"a": 1e400, "b": "ü"}, null, true]'),
        ("-Infinity", None),
        (None, None),
    ]
    assert table.shape(TableQuery()).columns[0].numeric
    assert table.shape(TableQuery(words="n < 1.2")).rows == 2


def test_an_empty_collection_of_features_has_no_rows(
    tmp_path: Path, opened: Callable[..., TableFile]
) -> None:
    path = tmp_path / "none.geojson"
    path.write_text('{"type": "FeatureCollection", "features": []}')
    shape = opened(path).shape(TableQuery())
    assert ([column.name for column in shape.columns], shape.rows) == (["geometry"], 0)


@pytest.mark.parametrize(("name", "text"), [("a.json", "[]"), ("a.jsonl", "\n")])
def test_an_empty_file_of_json_is_called_empty(
    tmp_path: Path, opened: Callable[..., TableFile], name: str, text: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(TableError, match=f"{name} is not a table: it is empty"):
        opened(tmp_path / name)


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("имя,город\nЮлий,Уфа\nИлья,Тюмень\n", "utf-16-le"),
        ("姓名,城市\n王伟,北京\n李娜,上海\n", "utf-16-be"),
        ("name,city\nJörg,Köln\n", "utf-32-le"),
        ("name,city\nJörg,Köln\n", "utf-32-be"),
        ("jméno,město\nŠárka,Plzeň\nŽofie,Třebíč\nJiří,Ústí\n", "iso8859-2"),
    ],
)
def test_wide_encodings_without_a_mark_and_initials_of_latin_2_are_read(text: str, encoding: str) -> None:
    assert detect_encoding(text.encode(encoding)) == encoding


def test_single_zero_bytes_make_no_wide_encoding() -> None:
    assert detect_encoding(b"a,b\n1,x\0y\n2,z\n") == "utf-8"


@pytest.mark.needs("zstd")
def test_a_file_of_zstandard_opens(tmp_path: Path, opened: Callable[..., TableFile]) -> None:
    path = tmp_path / "prices.csv.zst"
    subprocess.run(["zstd", "-q", "-o", path], input=CSV.encode(), check=True)
    table = opened(path)
    assert table.shape(TableQuery()).rows == 4
    assert table.page(TableQuery(), 2, 1, 0, 2)[0].cells == ("Zoë, the 1st", "10115")
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(TableError, match=r"prices\.csv\.zst cannot be read"):
        opened(path)


def test_a_file_of_zstandard_names_the_program_that_is_missing(
    tmp_path: Path, opened: Callable[..., TableFile], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "prices.csv.zst"
    path.write_bytes(b"(\xb5/\xfd....")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "compression.zstd", None)
    with pytest.raises(TableError, match=r"prices\.csv\.zst cannot be unpacked without the program zstd"):
        opened(path)


def test_na_is_missing_among_numbers_and_a_text_among_texts(
    tmp_path: Path, opened: Callable[..., TableFile]
) -> None:
    path = tmp_path / "countries.csv"
    path.write_text("country,many,day\nNA,1,NA\nDE,N/A,2024-01-02\n,-3,null\n")
    table = opened(path)
    assert [column.type for column in table.shape(TableQuery()).columns] == ["text", "int", "date"]
    rows = [row.cells for row in table.page(TableQuery(), 0, 3, 0, 3)]
    assert rows == [("NA", "1", None), ("DE", None, "2024-01-02"), (None, "-3", None)]
    for words, number in (
        ("country = NA", 1),
        ("country = missing", 1),
        ("many = missing", 1),
        ("many < 5", 2),
        ("day != missing", 1),
    ):
        assert table.shape(TableQuery(words=words)).rows == number, words
    order = [row.cells[1] for row in table.page(TableQuery(sort=1), 0, 3, 0, 3)]
    assert order == ["-3", "1", None]
    assert table.statistics(0).facts[:3] == (("rows", "3"), ("missing", "1"), ("distinct", "2"))
    assert dict(table.statistics(1).facts)["missing"] == "1"


def test_numbers_with_few_digits_in_parquet_are_shown_with_no_more(
    tmp_path: Path, opened: Callable[..., TableFile]
) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    column = pyarrow.array([0.1, float("nan"), None, float("inf"), -2.5], pyarrow.float32())
    parquet.write_table(pyarrow.table({"few": column}), tmp_path / "few.parquet")
    table = opened(tmp_path / "few.parquet")
    assert [row.cells[0] for row in table.page(TableQuery(), 0, 9, 0, 1)] == [
        "0.1",
        None,
        None,
        "inf",
        "-2.5",
    ]
    assert table.shape(TableQuery(words="few > 0")).rows == 2
    order = [row.cells[0] for row in table.page(TableQuery(sort=0), 0, 9, 0, 1)]
    assert order == ["-2.5", "0.1", "inf", None, None]


#: Columns of a file with the order of their rows, and conditions with the rows that they find.
WRITTEN = {
    "brackets": ("n,v\na,(5)\nb,3\nc,-1\n", "float", "a c b", {"v < 0": "a c", "v = (5)": "a"}),
    "brackets with thousands": (
        'n,v\na,"(1,234.50)"\nb,20\nc,"1,000"\n',
        "float",
        "a b c",
        {"v > 10": "b c", "v >= 1,000": "c", "v > 1,000": "", "v <= (1,234.50)": "a"},
    ),
    "brackets with a currency": (
        "n,v\na,($5.00)\nb,$3.00\nc,$(4.00)\n",
        "currency",
        "a c b",
        {"v < -$4": "a", "v < $3": "a c"},
    ),
    "brackets with percent": ("n,v\na,(5%)\nb,3%\nc,-2%\n", "percent", "a c b", {"v < 0": "a c"}),
    "labels in brackets": ("n,v\na,(2)\nb,(10)\nc,(9)\n", "text", "b a c", {}),
    "a long minus": ("n,v\na,\u22125\nb,3\nc,\u22121.5\n", "float", "a c b", {"v < 0": "a c"}),
    "long integers": (
        "n,v\na,1234567890123456789\nb,1234567890123456788\nc,1234567890123456790\n",
        "int",
        "b a c",
        {"v = 1234567890123456789": "a", "v > 1234567890123456789": "c"},
    ),
    "times": (
        "n,v\na,26:03:04\nb,9:00:00\nc,10:00\n",
        "time",
        "c b a",
        {"v > 9:30:00": "a", "v = 9:00:00": "b", "v < 1:00:00": "c"},
    ),
    "days and times": (
        "n,v\na,2 days 00:00:01\nb,-1 days +23:59:00\nc,1 days 23:00:00\n",
        "time",
        "b c a",
        {"v > 1 days 23:30:00": "a"},
    ),
    "errors of a spreadsheet": (
        "n,v\na,10\nb,#DIV/0!\nc,9\nd,#REF!\n",
        "int",
        "c a b d",
        {"v > 9": "a", "v = missing": "b d"},
    ),
    "decimal commas": (
        "n;v\na;0,5\nb;1.234,5\nc;12,25\n",
        "float",
        "a c b",
        {"v > 1,5": "b c", "v > 1.000": "b", "v = 12,25": "c", "v > 12.5": "b"},
    ),
}


@pytest.mark.parametrize("case", WRITTEN)
def test_numbers_and_times_are_ordered_and_compared_as_they_are_written(
    case: str, tmp_path: Path, opened: Callable[..., TableFile]
) -> None:
    text, kind, order, conditions = WRITTEN[case]
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    table = opened(tmp_path / "a.csv")
    assert table.shape(TableQuery()).columns[1].type == kind
    assert [row[0] for row in cells(table, TableQuery(sort=1))] == order.split()
    for words, rows in conditions.items():
        assert [row[0] for row in cells(table, TableQuery(words=words))] == rows.split(), words


def test_a_column_of_amounts_with_a_text_far_below_is_one_of_texts(
    tmp_path: Path, opened: Callable[..., TableFile]
) -> None:
    (tmp_path / "a.csv").write_text("v\n" + "$5\n" * 2500 + "none given\n")
    table = opened(tmp_path / "a.csv")
    assert table.shape(TableQuery()).columns[0].type == "text"
    assert table.shape(TableQuery(words="v < 1")).rows == 0


@pytest.mark.parametrize(
    ("name", "text", "kind", "names", "first"),
    [
        ("a.csv", "a||b||c\n1||||3\n2||x|y||4\n", "CSV with ||", "a b c", ("1", None, "3")),
        ("a.csv", 'a||b||c\n1||"x||y"||3\n', "CSV with ||", "a b c", ("1", "x||y", "3")),
        ("a.txt", "a|~|b\n1|~|x\n2|~|y\n", "Text with |~|", "a b", ("1", "x")),
        ("a.csv", "sep=||\na||b\n1||2\n", "CSV with ||", "a b", ("1", "2")),
        (
            "movies.dat",
            "id::title::genre\n1::Toy Story, The::Animation|Comedy\n2::Heat::Action\n",
            "Text with ::",
            "id title genre",
            ("1", "Toy Story, The", "Animation|Comedy"),
        ),
        ("a.csv", "fe80::1,eth0\nfe80::2,eth1\n", "CSV", "fe80::1 eth0", ("fe80::2", "eth1")),
        ("a.csv", "a|b||c\n1|2||3\n", "CSV with bars", "a b column 3 c", ("1", "2", None, "3")),
    ],
)
def test_delimiters_of_several_characters_are_found(
    name: str,
    text: str,
    kind: str,
    names: str,
    first: tuple[str | None, ...],
    tmp_path: Path,
    opened: Callable[..., TableFile],
) -> None:
    (tmp_path / name).write_text(text)
    shape = (table := opened(tmp_path / name)).shape(TableQuery())
    assert (shape.kind, " ".join(column.name for column in shape.columns)) == (kind, names)
    assert cells(table, TableQuery())[0] == first


def test_parquet_shows_what_is_in_lists_and_days_that_python_has_not(
    tmp_path: Path, opened: Callable[..., TableFile]
) -> None:
    arrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    days = arrow.array([[1], None], arrow.list_(arrow.date32()))
    amounts = arrow.array([{"a": Decimal("1.50"), "b": b"xy"}, {"a": None, "b": None}])
    columns = {
        "days": days,
        "record": amounts,
        "far": arrow.array([10**8, 2], arrow.date32()),
        "zone": arrow.array([0, 1_000_000], arrow.timestamp("us", "Mars/Phobos")),
        "long": arrow.array([timedelta(hours=26, minutes=3), timedelta(hours=9)]),
    }
    parquet.write_table(arrow.table(columns), tmp_path / "a.parquet")
    table = opened(tmp_path / "a.parquet")
    first, second = cells(table, TableQuery())
    assert first[:2] == ('["1970-01-02"]', '{"a": "1.50", "b": "<2 bytes>"}')
    assert "100000000" in (first[2] or "")
    assert first[4] == "26:03:00"
    assert second[:3] == (None, '{"a": null, "b": null}', "1970-01-03")
    assert (second[3] or "").startswith("1970-01-01 00:00:01")
    assert [row[4] for row in cells(table, TableQuery(sort=4))] == ["9:00:00", "26:03:00"]


def test_values_in_a_dictionary_of_arrow_have_the_type_of_these(
    tmp_path: Path, opened: Callable[..., TableFile]
) -> None:
    arrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    feather = pytest.importorskip("pyarrow.feather", reason="pyarrow is not installed")
    column = arrow.array([10, 9, None]).dictionary_encode()
    feather.write_feather(arrow.table({"n": column}), str(tmp_path / "a.feather"))
    table = opened(tmp_path / "a.feather")
    assert [(column.type, column.numeric) for column in table.shape(TableQuery()).columns] == [
        ("int64", True)
    ]
    assert cells(table, TableQuery(sort=0)) == [("9",), ("10",), (None,)]


def test_a_sheet_is_read_to_its_end_and_hidden_ones_come_last(
    tmp_path: Path, opened: Callable[..., TableFile]
) -> None:
    excel = pytest.importorskip("openpyxl", reason="openpyxl is not installed")
    book = excel.Workbook()
    book.active.title, book.active.sheet_state = "Codes", "hidden"
    book.active.append(["code"])
    sheet = book.create_sheet("Data")
    for row in (["n", "took"], ["a", timedelta(hours=26)], ["b", timedelta(hours=9)]):
        sheet.append(row)
    book.active = 1
    book.save(tmp_path / "whole.xlsx")
    # Some programs write that a sheet has one cell, whatever it has.
    with zipfile.ZipFile(tmp_path / "whole.xlsx") as whole, zipfile.ZipFile(tmp_path / "a.xlsx", "w") as odd:
        for name in whole.namelist():
            odd.writestr(name, re.sub(rb'<dimension ref="[^"]*"', b'<dimension ref="A1"', whole.read(name)))
    table = opened(tmp_path / "a.xlsx")
    assert (table.table, table.tables) == ("Data", ("Data", "Codes"))
    assert cells(table, TableQuery(sort=1)) == [("b", "9:00:00"), ("a", "26:00:00")]


def test_columns_of_a_database_are_ordered_as_it_orders_them(
    tmp_path: Path, opened: Callable[..., TableFile]
) -> None:
    database = sqlite3.connect(tmp_path / "a.db")
    database.executescript(
        "create table a (id integer, place point, price decimal(9,2));"
        "insert into a values (1234567890123456789, 'POINT (2 1)', 10.5), (1234567890123456788, 'A', 9);"
    )
    database.close()
    table = opened(tmp_path / "a.db")
    assert [column.numeric for column in table.shape(TableQuery()).columns] == [True, False, True]
    assert [row[0] for row in cells(table, TableQuery(sort=0))] == [
        "1234567890123456788",
        "1234567890123456789",
    ]
    assert [row[1] for row in cells(table, TableQuery(sort=1))] == ["A", "POINT (2 1)"]
    assert [row[1] for row in cells(table, TableQuery(words="id = 1234567890123456788"))] == ["A"]
