"""The computer object of a script: `interpreter.computer.mouse` and so on, as in Open Interpreter."""

from oi_tui import paths
from oi_tui.api.model import ApiModel
from oi_tui.computer import Computer, ComputerError
from oi_tui.computer.tool import TOOLS
from oi_tui.computer_api import QuestionRefusedError

#: What a script reaches as attributes of `interpreter.computer`; `terminal` is that object itself.
ATTRIBUTES = frozenset(TOOLS) - {"terminal"} | {"act", "screenshot", "view"}


class ScriptComputer(Computer):
    """The computer, as a script uses it itself: nothing is asked, since a person wrote the script.

    `ai` and what else needs a model ask that of the interpreter, on the budget of its conversation.
    """

    def __init__(self, model: ApiModel) -> None:
        self._model = model
        self.skills.path = str(paths.config() / "skills")

    def ask_model(self, text: str, images: list[str] | None = None) -> str:
        """Ask the interpreter's model. Raises ComputerError with the reason where there is no reply."""
        try:
            return self._model.ask(text, images or ())
        except QuestionRefusedError as refused:
            raise ComputerError(str(refused)) from None
