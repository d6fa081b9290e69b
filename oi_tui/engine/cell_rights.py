"""What the code of a cell reaches besides its language: tools of MCP servers, and the model."""

from collections.abc import Sequence

from oi_tui.engine import cell_target
from oi_tui.engine.cell_requests import CellRequests, explain_off
from oi_tui.engine.protocols import CodeRunner
from oi_tui.engine.review.earlier_code import EarlierCode
from oi_tui.engine.review.model_calls import ModelCalls, find_calls
from oi_tui.engine.review.permissions import Permissions
from oi_tui.engine.settings.profile import Profile
from oi_tui.engine.tools import CALLING_LANGUAGES, find_named_of, is_tool, make_paths


class CellRights:
    """Finds what code may call, and says what it may call without a question.

    `earlier` knows the names that earlier code gave a meaning; `reaches_model` says whether cells can ask the
    model at all.
    """

    def __init__(
        self, computer: CodeRunner, permissions: Permissions, earlier: EarlierCode, *, reaches_model: bool
    ) -> None:
        self._computer = computer
        self._permissions = permissions
        self._earlier = earlier
        self._reaches_model = reaches_model

    def tools(self, code: str, language: str | None) -> list[str]:
        """Return the tools of MCP servers that code names, as `github.search`."""
        servers = self._earlier.servers
        _, code = cell_target.split(code)
        names = find_named_of(code, servers) if language in CALLING_LANGUAGES and servers else []
        return sorted({path for path, _ in names})

    def list_granted_languages(self) -> frozenset[str]:
        """Return the languages, tools among them, of which all code was granted."""
        return frozenset(item.language for item in self._permissions if item.scope == "language")

    def asks_for_tools(self, named: Sequence[str]) -> bool:
        """Return whether code needs an approval because of the tools that it names, even with a grant."""
        if self._permissions.all_granted:
            return False
        tools = filter(is_tool, self.list_granted_languages())
        granted = {path for language in tools for path in make_paths(language)}
        return not all(path.lower() in granted for path in named)

    def find_model_calls(self, code: str, language: str | None, profile: Profile) -> ModelCalls | None:
        """Return the calls of the model in code that can make them; None where there are none."""
        if (
            not self._reaches_model
            or language != "python"
            or explain_off(profile, elsewhere=bool(self._computer.where))
        ):
            return None
        calls = find_calls(cell_target.split(code)[1])
        # A name that earlier code assigned no longer means our function.
        if calls is None or set(calls.functions) <= set(self._earlier.names):
            return None
        return calls

    def allow_requests(
        self, code: str, language: str | None, profile: Profile, *, by_person: bool = False
    ) -> CellRequests:
        """Return what a run of that code may ask the model; code `by_person` need not name it."""
        if off := explain_off(profile, elsewhere=bool(self._computer.where)):
            return CellRequests(why_not=off)
        most = profile.cell_requests
        calls = self.find_model_calls(code, language, profile)
        if not (by_person or self._permissions.all_granted):
            if calls is None:
                return CellRequests()
            most = most if calls.most is None else min(most, calls.most)
        return CellRequests(most, profile.cell_cost)
