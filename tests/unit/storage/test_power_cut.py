"""The power fails after any one call of a conversation's writing: what was said to be saved is there.

Three kinds of disk, from kind to cruel: one that kept every byte that was written, one that kept nothing
beyond what was synced, and one that kept the length of what was not synced but not its bytes.
"""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from oi_tui import paths
from oi_tui.engine.storage import journal
from oi_tui.engine.storage.store import Store, StoreError
from oi_tui.messages import Message

Promise = Callable[[list[Message]], object]


class Power:
    """Takes the place of `os` in the journal, and keeps what a disk would hold after each of its calls."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        #: What is durable of each file's bytes, by its name; and which names are.
        self.synced: dict[str, int] = {}
        self.named: set[str] = set()
        #: What must hold of the messages from now on, by the id of the message that it is about.
        self.promises: dict[str, Promise] = {}
        #: After every call: the files with all bytes, how many of them are durable, the names that are, and
        #: the promises that had been made by then.
        self.states: list[tuple[dict[str, bytes], dict[str, int], set[str], list[Promise]]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def write(self, file: int, data: bytes) -> int:
        # Half of it reaches the file before the other half does.
        os.write(file, data[: len(data) // 2])
        self.note()
        os.write(file, data[len(data) // 2 :])
        self.note()
        return len(data)

    def fsync(self, file: int) -> None:
        os.fsync(file)
        self.synced[Path(os.readlink(f"/proc/self/fd/{file}")).name] = os.fstat(file).st_size
        self.note()

    def ftruncate(self, file: int, size: int) -> None:
        os.ftruncate(file, size)
        self.note()

    def sync_folder(self, folder: Path) -> None:
        if folder == self.folder:
            self.named = {path.name for path in folder.glob("*.jsonl")}
        self.note()

    def note(self) -> None:
        files = {path.name: path.read_bytes() for path in self.folder.glob("*.jsonl")}
        self.states.append((files, dict(self.synced), set(self.named), list(self.promises.values())))


@pytest.fixture
def power(monkeypatch: pytest.MonkeyPatch) -> Power:
    made = Power(paths.conversations())
    monkeypatch.setattr(journal, "os", made)
    monkeypatch.setattr(paths, "flush", made.fsync)
    monkeypatch.setattr(paths, "sync", made.sync_folder)
    return made


def holds(message: Message) -> Promise:
    """What has been promised once `put` returned: the message is there, or a later version of it."""
    return lambda found: any(
        item.id == message.id and item.content.startswith(message.content) for item in found
    )


def lacks(message: Message) -> Promise:
    return lambda found: all(item.id != message.id for item in found)


def work_ten_rounds(power: Power) -> str:
    """Ten rounds of request, code, output and answer; one is taken back; closed and opened in between."""
    store = Store(power.folder)
    begun = store.create(cwd="/", model="m")

    def put(message: Message) -> None:
        begun.put(message)
        power.promises[message.id] = holds(message)

    for round_ in range(10):
        if round_ == 5:
            begun.close()
            begun = store.open(begun.id)[0]
        asked = Message(role="user", type="message", content=f"request {round_}")
        code = Message(role="assistant", type="code", content=f"x = {round_}", state="queued")
        output = Message(role="computer", type="console", format="output", parent=code.id)
        put(asked)
        put(code)
        put(code.replace(state="running"))
        put(output)
        begun.grow(output.id, "line\n" * 50)
        put(output.replace(content="line\n" * 50))
        put(code.replace(state="finished", seconds=0.1))
        if round_ == 7:
            del power.promises[asked.id]
            begun.forget([asked.id])
            power.promises[asked.id] = lacks(asked)
    begun.close()
    power.note()
    return begun.id


DISKS: dict[str, Callable[[bytes, int], bytes]] = {
    "kept every byte": lambda data, _synced: data,
    "kept what was synced": lambda data, synced: data[:synced],
    "kept the length of the rest": lambda data, synced: data[:synced] + b"\0" * (len(data) - synced),
    "tore the rest": lambda data, synced: data[: synced + (len(data) - synced) // 3],
}


@pytest.mark.slow
@pytest.mark.parametrize("disk", DISKS)
def test_after_a_power_cut_at_any_call_nothing_that_was_saved_is_lost(
    disk: str, power: Power, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    id_ = work_ten_rounds(power)
    monkeypatch.undo()
    assert len(power.states) > 150
    folder = tmp_path / "after"
    made = Store(folder)
    for number, (files, synced, named, promises) in enumerate(power.states):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for name, data in files.items():
            # A name that the folder was not synced for is gone, whatever the file held.
            if disk == "kept every byte" or name in named:
                (folder / name).write_bytes(DISKS[disk](data, synced.get(name, 0)))
        try:
            opened, found = made.open(id_)
        except StoreError:
            assert not promises, f"gone after call {number}"
            continue
        assert all(promise(found) for promise in promises), f"lost after call {number}"
        after = Message(role="user", type="message", content="and on it goes")
        opened.put(after)
        assert opened.trouble is None
        opened.close()
        assert made.read(id_) == [*found, after]
