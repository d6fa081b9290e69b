"""Real notebooks through `oi-tui --server`: nbclient and Jupyter's client library, and Python itself."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="starlette (extra server) is not installed here")
pytest.importorskip("uvicorn", reason="uvicorn (extra server) is not installed here")

from tests.e2e.interfaces.test_server import Server
from tests.unit.server.kernel_client import HttpManager
from tests.when_used import when_used

nbclient, nbformat = when_used("nbclient"), when_used("nbformat")
IMAGE = "class P:\n  def _repr_png_(self): return b'\\x89PNG\\r\\n\\x1a\\n'\ndisplay(P())"


@pytest.fixture
def server(workplace: Path) -> Iterator[Server]:
    server = Server("-y")
    yield server
    assert server.end() == (0, "")


def notebook(*cells: str) -> Any:
    made = nbformat.v4.new_notebook()
    made.cells = [nbformat.v4.new_code_cell(code) for code in cells]
    return made


async def execute(server: Server, made: Any, *, binary: bool = False, **options: Any) -> Any:
    manager = HttpManager(server.address, server.headers, binary=binary)
    client = nbclient.NotebookClient(made, km=manager, timeout=60, **options)
    return await client.async_execute(cleanup_kc=True)


def read_output(cell: Any) -> str:
    return "".join(output.get("text", "") for output in cell.outputs)


@pytest.mark.parametrize("binary", [False, True])
async def test_nbclient_executes_a_notebook(server: Server, binary: bool) -> None:
    cells = notebook("kept = 41", "print(kept + 1)", IMAGE, "print('before')\nkept")
    # Output may arrive in pieces, as from any kernel.
    done = await execute(server, cells, binary=binary, coalesce_streams=True)
    assert [cell.execution_count for cell in done.cells] == [1, 2, 3, 4]
    assert "42" in read_output(done.cells[1])
    assert [output.output_type for output in done.cells[2].outputs] == ["display_data"]
    assert "image/png" in done.cells[2].outputs[0].data
    printed, result = done.cells[3].outputs
    assert (printed.output_type, printed.text) == ("stream", "before\n")
    assert (result.output_type, result.data, result.execution_count) == (
        "execute_result",
        {"text/plain": "41"},
        4,
    )
    assert done.metadata.language_info.name == "python"
    assert done.metadata.language_info.file_extension == ".py"
    nbformat.validate(done)


async def test_values_come_in_all_their_forms_and_what_is_printed_stays_a_stream(server: Server) -> None:
    page = "class P:\n  def __repr__(self): return 'a page'\n  def _repr_html_(self): return '<b>page</b>'\n"
    cells = notebook(
        page + "P()",
        "display(P(), 2)",
        "print('x' * 10)\nNone",
        "print(1);",
        "class Q:\n  def __repr__(self): print('in'); return 'q'\nQ()",
        "class R:\n  def _ipython_display_(self): display(P())\nR()",
        "class S:\n  def __repr__(self): 1/0\nS()",
        "print('after')",
    )
    done = await execute(server, cells, allow_errors=True, coalesce_streams=True)
    both = {"text/plain": "a page", "text/html": "<b>page</b>"}
    outputs = [
        [(output.output_type, output.get("data") or output.get("text")) for output in cell.outputs]
        for cell in done.cells
    ]
    assert outputs[:4] == [
        [("execute_result", both)],
        [("display_data", both), ("display_data", {"text/plain": "2"})],
        [("stream", "xxxxxxxxxx\n")],
        [("stream", "1\n")],
    ]
    assert outputs[4] == [("execute_result", {"text/plain": "in\nq"})]
    assert outputs[5] == [("display_data", both)]
    assert done.cells[6].outputs[-1].ename == "ZeroDivisionError"
    assert outputs[7] == [("stream", "after\n")]


FORMS = [
    ("Markdown('**bold**')", {"text/plain": "**bold**", "text/markdown": "**bold**"}),
    ("Latex('$x^2$')", {"text/plain": "$x^2$", "text/latex": "$x^2$"}),
    ("Math('x')", {"text/latex": "$\\displaystyle x$"}),
    ("JSON({'a': [1]})", {"application/json": {"a": [1]}}),
    ("JSON({'a': float('nan')})", {}),
    ("HTML('<i>page</i>')", {"text/html": "<i>page</i>"}),
    ("Javascript('1+1')", {"application/javascript": "1+1"}),
    ("SVG('<svg/>')", {"image/svg+xml": "<svg/>"}),
    ("Bundle()", {"application/x.own+json": [1, {"b": None}], "text/markdown": "*m*"}),
    ("Once()", {"text/plain": "1", "text/markdown": "1"}),
    ("Failing()", {"text/plain": "fails", "text/html": "<b>page</b>"}),
]


async def test_values_have_the_forms_that_notebooks_show(server: Server) -> None:
    own = (
        "from IPython.display import HTML, JSON, SVG, Javascript, Latex, Markdown, Math\n"
        "class Bundle:\n  def _repr_mimebundle_(self, **_):\n"
        "    return {'application/x.own+json': [1, {'b': None}], 'text/markdown': '*m*', 'x/y': b'no text'}\n"
        "class Once:\n  n = 0\n  def _repr_markdown_(self): self.n += 1; return str(self.n)\n"
        "class Failing:\n  def __repr__(self): return 'fails'\n"
        "  def _repr_latex_(self): 1/0\n  def _repr_json_(self): return object()\n"
        "  def _repr_html_(self): return '<b>page</b>'\n"
    )
    codes = [code for code, _ in FORMS]
    done = await execute(server, notebook(own, *codes, *(f"display({code})" for code in codes)))
    shown = [cell.outputs[0] for cell in done.cells[1:]]
    assert [len(cell.outputs) for cell in done.cells[1:]] == [1] * len(shown)
    for output, (code, expected) in zip(shown, FORMS * 2, strict=True):
        data = dict(output.data)
        if "text/plain" not in expected:
            data.pop("text/plain", None)
        assert data == expected, code
    nbformat.validate(done)


async def test_a_value_that_is_shown_again_changes_where_it_stands_and_nothing_comes_twice(
    server: Server,
) -> None:
    cells = notebook(
        "from IPython.display import Markdown\n"
        "shown = display(1, display_id=True)\nprint('between')\ndisplay('below')\nshown.update(2)\n"
        "print('end')\nshown.update(3)",
        "shown.update(Markdown('*four*'))\nprint('later')",
    )
    done = await execute(server, cells, coalesce_streams=True)
    outputs = [[output.get("data") or output.text for output in cell.outputs] for cell in done.cells]
    updated = {"text/plain": "*four*", "text/markdown": "*four*"}
    assert outputs == [
        [updated, "between\nend\n", {"text/plain": "'below'"}],
        ["later\n"],
    ]


async def test_a_progress_bar_stays_one_line_and_cleared_output_is_gone(server: Server) -> None:
    cells = notebook(
        "import time\nfor i in range(4):\n"
        "    print(f'\\r{i}0% of it', end='', flush=True)\n    time.sleep(0.4)",
        "from IPython.display import clear_output\nfor i in range(3):\n"
        "    clear_output(wait=True)\n    print('step', i)\n    display(i)",
        "display(1)\nprint('gone')\nclear_output()",
        "print('kept')",
    )
    done = await execute(server, cells, coalesce_streams=True)
    assert read_output(done.cells[0]).rpartition("\r")[2] == "30% of it"
    outputs = [[output.get("data") or output.text for output in cell.outputs] for cell in done.cells]
    assert outputs[1:] == [["step 2\n", {"text/plain": "2"}], [], ["kept\n"]]


async def test_an_error_ends_the_notebook_by_its_name_and_input_does_not_hang(server: Server) -> None:
    with pytest.raises(nbclient.exceptions.CellExecutionError, match="ZeroDivisionError"):
        await execute(server, notebook("1/0", "print('after')"))
    done = await execute(server, notebook("1/0", "input('Name? ')", "print('after')"), allow_errors=True)
    errors = [output for cell in done.cells for output in cell.outputs if output.output_type == "error"]
    assert [error.ename for error in errors] == ["ZeroDivisionError", "StdinNotImplementedError"]
    assert errors[0].traceback == ["ZeroDivisionError: division by zero"]
    assert "after" in read_output(done.cells[2])


ASKING = """import getpass
print('before')
name = input('First\\nName? ')
print('Hello', name, input())
print(len(getpass.getpass('Password: ')))
for side in ('left', 'right'):
    print(side, end='', flush=True)
"""


@pytest.mark.parametrize(
    ("kernel", "code", "typed", "shown", "prompts"),
    [
        (
            "python3",
            ASKING,
            ["Ada", "too", "secret"],
            "before\nFirst\nHello Ada too\n6\nleftright",
            ["Name? ", "", "Password: "],
        ),
        (
            "bash",
            "echo before; read -p 'Name? ' name; echo Hello $name",
            ["Ada"],
            "before\nHello Ada\n",
            ["Name? "],
        ),
    ],
    ids=["python", "bash"],
)
async def test_prompts_and_what_is_typed_are_left_to_jupyters_client(
    server: Server, kernel: str, code: str, typed: list[str], shown: str, prompts: list[str]
) -> None:
    """The client shows both itself, so that neither is in the stream."""
    manager = HttpManager(server.address, server.headers)
    manager.start_kernel(kernel_name=kernel)
    client = manager.client()
    client.allow_stdin = True
    client.start_channels()
    await client.wait_for_ready(timeout=30)
    cell = client.execute(code)
    asked = []
    for line in typed:
        asked.append((await client.get_stdin_msg(timeout=30))["content"]["prompt"])
        client.input(line)
    printed = ""
    idle = {"execution_state": "idle"}
    while (message := await client.get_iopub_msg(timeout=30))["content"] != idle or (
        message["parent_header"].get("msg_id") != cell
    ):
        if message["msg_type"] == "stream":
            printed += message["content"]["text"]
    assert (printed, asked) == (shown, prompts)
    await client.stop_channels()
    manager.shutdown_kernel()


async def test_jupyters_client_completes_inspects_and_shuts_a_kernel_down(server: Server) -> None:
    manager = HttpManager(server.address, server.headers)
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    await client.wait_for_ready(timeout=30)
    answer = await client.execute("sales_by_month = [3, 4]", reply=True, timeout=30)
    assert answer["content"]["status"] == "ok"
    found = await client.complete("sales_by", reply=True, timeout=30)
    assert found["content"]["matches"] == ["sales_by_month"]
    found = await client.inspect("print(sales_by_month)", 9, reply=True, timeout=30)
    assert "[3, 4]" in found["content"]["data"]["text/plain"]
    for code, place in (("len(", 4), ("len", 2), ("print(len([1], ", 15)):
        found = await client.inspect(code, place, reply=True, timeout=30)
        assert found["content"]["data"]["text/plain"].startswith("len(obj): Return the number of items")
    found = await client.inspect("no_such_name(", reply=True, timeout=30)
    assert (found["content"]["found"], found["content"]["data"]) == (False, {})
    found = await client.history(hist_access_type="tail", n=5, reply=True, timeout=30)
    assert found["content"]["history"] == [[0, 1, "sales_by_month = [3, 4]"]]
    await client.shutdown(restart=True, reply=True, timeout=30)
    answer = await client.execute("sales_by_month", reply=True, timeout=30)
    assert answer["content"]["ename"] == "NameError"
    await client.shutdown(reply=True, timeout=30)
    assert not manager.is_alive()
    await client.stop_channels()
    manager.cleanup_resources()
