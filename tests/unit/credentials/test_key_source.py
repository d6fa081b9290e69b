"""Where the key of a model comes from, in words."""

import pytest

from oi_tui.engine.credentials.key_source import find_key_source
from oi_tui.engine.credentials.keys import Secrets
from oi_tui.engine.settings.profile import Origin, Profile
from oi_tui.workspace import Workspace


class Ring:
    name = "memory"

    def get_password(self, _service: str, _name: str) -> str:
        return "canary-ring"


@pytest.mark.parametrize(
    ("origin", "words"),
    [
        ("flag", "The API key was given on the command line."),
        ("environment", "The API key comes from OI_TUI_API_KEY in the environment."),
        ("profile", "The API key is in the profile's file, readable by anyone who can read that file."),
        ("changed", "You typed the API key; it is used until you quit."),
    ],
)
def test_a_key_of_the_profile_comes_first(origin: Origin, words: str) -> None:
    profile = Profile().with_changes(origin, api_key="canary-own")
    place = find_key_source(
        profile, Secrets(environment={"OPENAI_API_KEY": "canary-env"}, keyring=lambda: None)
    )
    assert (place.found, place.kept, place.words) == (True, False, words)


def test_a_key_in_the_keyring_is_kept() -> None:
    place = find_key_source(Profile(), Secrets(environment={}, keyring=Ring))
    assert (place.found, place.kept) == (True, True)
    assert place.words == "OPENAI_API_KEY is saved in the system's keyring."


def test_a_kept_key_makes_the_default_model_one_that_can_be_asked() -> None:
    workspace = Workspace(Profile())
    try:
        assert not workspace.model.is_chosen
        assert not workspace.model.find_key()
        workspace.secrets.save("OPENAI_API_KEY", "canary-kept")
        assert workspace.model.find_key()
        assert workspace.model.is_chosen
    finally:
        workspace.close()
