"""The package in a notebook: two buttons of ipywidgets, clicked by a client of the real kernel."""

import queue
from collections.abc import Iterator
from time import monotonic
from typing import Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import start_new_kernel

pytest.importorskip("ipywidgets", reason="ipywidgets is not installed here")

BEGIN = """
from oi_tui import OpenInterpreter

replies = iter(["Look:\\n```python\\nprint(6 * 7)\\n```", "That was it."])
interpreter = OpenInterpreter(conversation_history=False)
interpreter.llm.supports_functions = False
interpreter.llm.completions = lambda messages: iter([next(replies)])
interpreter.chat("Multiply", blocking=False)
"""
END = """
print([m["content"] for m in interpreter.wait()], interpreter.messages[2].get("state"))
interpreter.close()
"""


class Notebook:
    """A client that runs cells and clicks buttons, as a notebook does."""

    def __init__(self, client: BlockingKernelClient) -> None:
        self._client = client
        self._buttons: dict[str, str] = {}
        self._said: dict[str, str] = {}
        self._idle: set[str] = set()
        self.closed: set[str] = set()
        #: How many messages brought what was printed.
        self.prints = 0

    def run(self, code: str) -> str:
        """Run a cell, and return what it printed and how it failed."""
        cell = self._client.execute(code, allow_stdin=False)
        self._read(lambda: cell in self._idle)
        return self._said.get(cell, "")

    def wait_for_buttons(self) -> None:
        """Wait until both buttons are there."""
        self._read(lambda: {"Run", "Reject"} <= set(self._buttons))

    def click(self, name: str) -> None:
        """Click a button."""
        data = {"method": "custom", "content": {"event": "click"}}
        message = self._client.session.msg("comm_msg", {"comm_id": self._buttons[name], "data": data})
        self._client.shell_channel.send(message)

    def wait_until_closed(self) -> None:
        """Wait until no button can be clicked any more."""
        self._read(lambda: set(self._buttons.values()) <= self.closed)

    def _read(self, enough: Any) -> None:
        until = monotonic() + 60
        while not enough():
            assert monotonic() < until, "it took too long"
            try:
                message = self._client.get_iopub_msg(timeout=1)
            except queue.Empty:
                continue
            content, cell = message["content"], message["parent_header"].get("msg_id", "")
            match message["msg_type"]:
                case "comm_open":
                    state = content["data"].get("state", {})
                    self._buttons |= (
                        {state["description"]: content["comm_id"]} if "description" in state else {}
                    )
                case "comm_close":
                    self.closed.add(content["comm_id"])
                case "stream":
                    self.prints += 1
                    self._said[cell] = self._said.get(cell, "") + content["text"]
                case "error":
                    self._said[cell] = self._said.get(cell, "") + f"{content['ename']}: {content['evalue']}"
                case "status" if content["execution_state"] == "idle":
                    self._idle.add(cell)


@pytest.fixture
def notebook() -> Iterator[Notebook]:
    manager, client = start_new_kernel(kernel_name="python3")
    yield Notebook(client)
    client.stop_channels()
    manager.shutdown_kernel(now=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("button", "says"),
    [("Run", "['Look:\\n', 'print(6 * 7)', '42\\n', 'That was it.'] finished"), ("Reject", "rejected")],
)
def test_a_turn_in_a_thread_asks_with_buttons_and_waiting_for_a_click_is_refused(
    button: str, says: str, notebook: Notebook
) -> None:
    notebook.run(BEGIN)
    notebook.wait_for_buttons()
    assert "TurnError: The code waits for your answer" in notebook.run(END)
    assert notebook.run("print(interpreter.responding)") == "True\n", "the notebook stays usable"
    notebook.click(button)
    notebook.wait_until_closed()
    assert says in notebook.run(END)


@pytest.mark.slow
def test_stopping_the_turn_takes_the_buttons_away(notebook: Notebook) -> None:
    notebook.run(BEGIN)
    notebook.wait_for_buttons()
    notebook.run("interpreter.stop()")
    notebook.wait_until_closed()
    said = notebook.run(END)
    assert "42" not in said
    assert "rejected" in said


@pytest.mark.slow
def test_a_cell_that_waits_for_its_turn_asks_in_a_line(notebook: Notebook) -> None:
    said = notebook.run(BEGIN.replace("blocking=False", "blocking=True"))
    assert "TurnError: The code was not run: it needs approval, and standard input could not be read" in said


@pytest.mark.slow
def test_a_reply_in_many_pieces_is_shown_in_few_messages(notebook: Notebook) -> None:
    """Each message is an output of its own in a saved notebook, and a server drops some of too many."""
    pieces = 'interpreter.llm.completions = lambda messages: iter(["word "] * 1000)'
    notebook.run(BEGIN.partition("replies")[0] + "interpreter = OpenInterpreter(conversation_history=False)")
    said = notebook.run(f"{pieces}; interpreter.chat('go')[0]['content'] == 'word ' * 1000")
    assert said.rstrip() == ("word " * 1000).rstrip()
    assert notebook.prints < 200
