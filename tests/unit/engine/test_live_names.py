"""What the model is told of variables together with a summary."""

from pathlib import Path

from oi_tui.engine.settings.profile import Profile
from oi_tui.runtimes.variables import Memory, Variable
from oi_tui.services.live_names import describe_memories
from oi_tui.workspace import Workspace
from tests.fakes import Llm, Text
from tests.unit.llm.test_context_and_cost import long_talk


def test_names_come_with_types_and_shapes_and_without_values() -> None:
    variables = (
        Variable("df", "DataFrame", "DataFrame 1200x8"),
        Variable("key", "str", "'sk-1'"),
        *(Variable(f"v{number}", "int", str(number)) for number in range(60)),
    )
    text = describe_memories([Memory("python", "known", variables, 90), Memory("r", "unstarted")])
    assert "sk-1" not in text
    assert text.endswith(", v58 (int), v59 (int), and 30 earlier ones")
    assert "- python: df (DataFrame 1200x8), key (str)" in describe_memories(
        [Memory("python", "known", variables[:2], 2)]
    )
    assert describe_memories([Memory("r", "unstarted")]) == ""


def test_the_model_gets_them_with_the_summary(tmp_path: Path) -> None:
    llm = Llm([Text("Data is loaded.")], [Text("Yes.")])
    space = Workspace(Profile(model="openai/x"), llm=llm)
    try:
        for message in long_talk():
            list(space.session._log.record(message))
        list(space.session.run("python", "amount = 41"))
        list(space.session.compact())
        list(space.session.turn("Go on"))
    finally:
        space.close()
    sent = str(llm.requests[1].messages)
    assert "Data is loaded." in sent
    assert "- python: amount (int)" in sent
