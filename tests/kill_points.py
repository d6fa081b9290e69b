"""A program killed at every single call that it makes to the file system, and what is left of its work.

Run as `python -m tests.kill_points NAME FOLDER`: a scenario is done over and over in a child of its own,
which is killed at its first call, at its second, and so on until it comes to its end; writes are also cut in
their middle. After each kill, what is there is checked. Writes how many kills there were, and what was wrong.
"""

import itertools
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oi_tui.engine.export import formats
from oi_tui.engine.open_interpreter import conversations as original
from oi_tui.engine.storage.full_text_index import FullTextIndex
from oi_tui.engine.storage.store import Store
from oi_tui.file_changes import restore
from oi_tui.file_changes.snapshots import Snapshots
from oi_tui.file_changes.watcher import FileWatcher
from oi_tui.messages import Message

CALLS = (
    *(
        "open",
        "close",
        "write",
        "fsync",
        "ftruncate",
        "link",
        "rename",
        "replace",
        "unlink",
        "remove",
        "mkdir",
    ),
    *("rmdir", "utime", "chmod", "fchmod"),
)


class Countdown:
    """Ends the process with a kill at the call with this number, counted from 0."""

    def __init__(self, left: int) -> None:
        self.left = left

    def tick(self) -> None:
        if not self.left:
            os.kill(os.getpid(), signal.SIGKILL)
        self.left -= 1

    def counted(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def counting(*arguments: Any, **named: Any) -> Any:
            self.tick()
            return call(*arguments, **named)

        return counting

    def install(self) -> None:
        write = os.write

        def halved(file: int, data: bytes) -> int:
            self.tick()
            done = write(file, data[: len(data) // 2])
            self.tick()
            return done + write(file, data[len(data) // 2 :])

        for name in CALLS:
            setattr(os, name, self.counted(getattr(os, name)))
        os.write = halved  # type: ignore[assignment]


def killed_at(number: int, scenario: Callable[[], object]) -> bool:
    """Do the scenario in a child that is killed at its call of this number; False when it came to its end."""
    child = os.fork()
    if not child:
        Countdown(number).install()
        try:
            scenario()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


@dataclass(frozen=True)
class Scenario:
    """What is prepared in a folder, done there, and must hold of it whenever the doing was cut short."""

    prepare: Callable[[Path], None]
    do: Callable[[Path], object]
    #: Says what is wrong with what is there.
    wrong: Callable[[Path], Iterator[str]]


TALK = [
    Message(role="user", type="message", content="Count to three", id="a"),
    Message(role="assistant", type="code", format="python", content="print(123)", id="b", state="finished"),
    Message(role="computer", type="console", format="output", content="123\n" * 50, id="c", parent="b"),
    Message(role="assistant", type="message", content="There it is.", id="d"),
]
ENTRIES = [{"role": "user", "type": "message", "content": f"said {number}"} for number in range(8)]


def conversations(folder: Path) -> Store:
    return Store(folder / "data")


def two(folder: Path) -> None:
    store = conversations(folder)
    for name in ("one", "two"):
        made = store.create(cwd="/", model="m", title=name)
        for message in TALK:
            made.put(message)
        made.close()
        assert made.path is not None
        made.path.rename(made.path.with_name(f"{name}.jsonl"))
    store.list_summaries()


def whole(store: Store, expected: list[Message] = TALK) -> Iterator[str]:
    """What is wrong with any of the conversations that are listed."""
    for summary in store.list_summaries():
        if summary.problem or store.read_contents(summary.id).damaged:
            yield f"{summary.id}: {summary.problem or 'damaged'}"
        elif [m.content for m in store.read(summary.id)] != [m.content for m in expected]:
            yield f"{summary.id}: {len(store.read(summary.id))} messages"


# ---- The scenarios


def prepare_import(folder: Path) -> None:
    (folder / "theirs").mkdir()
    for number in range(3):
        (folder / "theirs" / f"talk_{number}__x.json").write_text(json.dumps(ENTRIES))


def import_all(folder: Path) -> str:
    return str(original.import_conversations(conversations(folder), [folder / "theirs"]))


def wrong_after_import(folder: Path) -> Iterator[str]:
    store = conversations(folder)
    words = [Message(role="user", type="message", content=entry["content"]) for entry in ENTRIES]
    yield from whole(store, words)
    import_all(folder)
    yield from whole(store, words)
    titles = sorted(summary.title for summary in store.list_summaries())
    if titles != ["talk 0", "talk 1", "talk 2"]:
        yield f"imported: {titles}"


def wrong_after_fork(folder: Path) -> Iterator[str]:
    store = conversations(folder)
    yield from whole(store)
    store.fork("one")
    if len(store.list_summaries()) not in (3, 4):
        yield f"{len(store.list_summaries())} conversations"


def delete_and_restore(folder: Path) -> None:
    store = conversations(folder)
    store.delete("one")
    store.restore("one")
    store.delete("one")


def wrong_after_delete(folder: Path) -> Iterator[str]:
    store = conversations(folder)
    yield from whole(store)
    listed = {summary.id for summary in store.list_summaries()}
    if "two" not in listed or not {*listed, *store.list_deleted()} >= {"one", "two"}:
        yield f"listed {listed}, deleted {store.list_deleted()}"
    if "one" in listed:
        store.delete("one")
    if {summary.id for summary in store.list_summaries()} != {"two"}:
        yield "deleting does nothing"
    store.restore(store.list_deleted()[0])
    yield from whole(store)
    if {summary.id for summary in store.list_summaries()} != {"one", "two"} or store.list_deleted():
        yield "restoring does nothing"


def name_and_pin(folder: Path) -> None:
    store = conversations(folder)
    store.rename("one", "uno")
    store.pin("one", True)
    store.suggest_title("two", "dos")


def wrong_after_naming(folder: Path) -> Iterator[str]:
    store = conversations(folder)
    yield from whole(store)
    titles = {summary.id: summary.title for summary in store.list_summaries()}
    if titles["one"] not in ("one", "uno") or titles["two"] not in ("two", "dos"):
        yield f"titles {titles}"
    store.rename("one", "eins")
    if {summary.id: summary.title for summary in store.list_summaries()}["one"] != "eins":
        yield "naming does nothing"


def go_back_and_forth(folder: Path) -> None:
    made, messages = conversations(folder).open("one")
    made.forget([message.id for message in messages[2:]])
    for message in messages[2:]:
        made.put(message)
    made.put(Message(role="assistant", type="message", content="summary", covers="d"))
    made.close()


def wrong_after_going_back(folder: Path) -> Iterator[str]:
    store = conversations(folder)
    words = [message.content for message in TALK]
    found = [message.content for message in store.read("one")]
    if found not in (words, words[:2], words[:3], [*words, "summary"]):
        yield f"{found}"
    opened, _ = store.open("one")
    opened.put(Message(role="user", type="message", content="on"))
    opened.close()
    if [message.content for message in store.read("one")] != [*found, "on"]:
        yield "it does not go on"


def export_all(folder: Path) -> None:
    for name, kind in formats.FORMATS.items():
        formats.export(kind, "A title", TALK, folder / f"{name}{kind.suffix}")


def wrong_after_export(folder: Path) -> Iterator[str]:
    for name, kind in formats.FORMATS.items():
        for path in folder.glob(f"{name}.*"):
            text = path.read_text()
            if name == "notebook":
                if len(json.loads(text)["cells"]) != len(json.loads(kind.write("A title", TALK))["cells"]):
                    yield f"{path.name} is not whole"
            elif text != kind.write("A title", TALK):
                yield f"{path.name} is not whole"


FILES = {"a.txt": "a" * 9, "b.txt": "b" * 9, "gone.txt": "c" * 9}
CHANGED = {"a.txt": "A", "b.txt": "B", "new.txt": "N"}


def prepare_files(folder: Path) -> None:
    work = folder / "work"
    work.mkdir()
    for name, text in FILES.items():
        (work / name).write_text(text)
    watcher = FileWatcher(Snapshots(folder / "snapshots"), work)
    watcher.before()
    (work / "gone.txt").unlink()
    for name, text in CHANGED.items():
        (work / name).write_text(text)
    watcher.after("code")


def restore_files(folder: Path) -> None:
    snapshots = Snapshots(folder / "snapshots")
    step = snapshots.find_change_set("code")
    assert step is not None
    restore.restore(snapshots, step, restore.plan(snapshots, step))


def standing(folder: Path) -> dict[str, str]:
    files = (folder / "work").iterdir()
    return {path.name: path.read_text() for path in files if not path.name.startswith(".")}


def wrong_after_restoring(folder: Path) -> Iterator[str]:
    snapshots = Snapshots(folder / "snapshots")
    now = standing(folder)
    for name in {*FILES, *CHANGED}:
        if now.get(name) not in (FILES.get(name), CHANGED.get(name)):
            yield f"{name} holds {now.get(name)!r}"
    back = snapshots.find_change_set(restore.make_revert_id("code"))
    if now != CHANGED and back is None:
        yield "nobody knows how to take it back"
    if back is not None:
        restore.restore(snapshots, back, restore.plan(snapshots, back))
        if standing(folder) != CHANGED:
            yield f"taken back it is {standing(folder)}"
    restore_files(folder)
    if standing(folder) != FILES:
        yield f"restored again it is {standing(folder)}"


def watch_a_run(folder: Path) -> None:
    watcher = FileWatcher(Snapshots(folder / "snapshots"), folder / "work")
    watcher.before()
    (folder / "work" / "b.txt").write_text("later")
    watcher.after("second")


def wrong_after_watching(folder: Path) -> Iterator[str]:
    snapshots = Snapshots(folder / "snapshots")
    if snapshots.find_change_set("code") is None:
        yield "the first step is lost"
    second = snapshots.find_change_set("second")
    if second is not None and snapshots.read_content(second.changes[0].before or "") != b"B":
        yield "the second step has no contents"
    again = FileWatcher(snapshots, folder / "work")
    again.before()
    (folder / "work" / "b.txt").write_text("at last")
    if again.after("third") is None or snapshots.find_change_set("third") is None:
        yield "nothing is noticed any more"


def list_and_index(folder: Path) -> None:
    store = conversations(folder)
    store.fork("one")
    store.list_summaries()
    FullTextIndex(folder / "data" / "words.sqlite3").update(store)


def wrong_after_listing(folder: Path) -> Iterator[str]:
    store = conversations(folder)
    yield from whole(store)
    index = FullTextIndex(folder / "data" / "words.sqlite3")
    index.update(store)
    ids = {summary.id for summary in store.list_summaries()}
    if index.covered != ids or index.find(["count"]) != (ids, ids):
        yield f"the index has {index.find(['count'])} of {ids}"


def nothing(_folder: Path) -> None:
    """Some scenarios need no preparation."""


def go_on_in_a_copy(folder: Path) -> None:
    store = conversations(folder)
    messages = store.read("one")
    copy = store.create(cwd="/", model="m", title="one (copy)", messages=messages)
    copy.save()
    copy.close()


SCENARIOS = {
    "copy": Scenario(two, go_on_in_a_copy, wrong_after_fork),
    "import": Scenario(prepare_import, import_all, wrong_after_import),
    "fork": Scenario(two, lambda folder: conversations(folder).fork("one"), wrong_after_fork),
    "delete": Scenario(two, delete_and_restore, wrong_after_delete),
    "naming": Scenario(two, name_and_pin, wrong_after_naming),
    "going back": Scenario(two, go_back_and_forth, wrong_after_going_back),
    "export": Scenario(nothing, export_all, wrong_after_export),
    "restoring": Scenario(prepare_files, restore_files, wrong_after_restoring),
    "watching": Scenario(prepare_files, watch_a_run, wrong_after_watching),
    "listing": Scenario(two, list_and_index, wrong_after_listing),
}


def main(name: str, place: Path) -> None:
    scenario = SCENARIOS[name]
    # What is prepared may name the folder that it was prepared in.
    folder, prepared = place / "now", place / "prepared"
    folder.mkdir()
    scenario.prepare(folder)
    shutil.copytree(folder, prepared)
    problems: list[str] = []
    for number in itertools.count():
        shutil.rmtree(folder)
        shutil.copytree(prepared, folder)
        killed = killed_at(number, lambda: scenario.do(folder))
        problems += [f"killed at call {number}: {problem}" for problem in scenario.wrong(folder)]
        if not killed:
            sys.stdout.write(json.dumps({"kills": number, "problems": problems}))
            return


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
