"""Which hosts are this machine, which are of the local network, and which are neither."""

import pytest

from oi_tui.engine.llm import endpoint
from oi_tui.engine.settings.profile import Profile

HERE = (
    "127.0.0.1", "127.0.0.2", "127.255.255.254", "127.1", "0x7f000001", "0x7f.1", "0177.0.0.1", "2130706433",
    "017700000001", "0.0.0.0", "0", "::", "::1", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1", "::ffff:7f00:1",
    "localhost", "LOCALHOST", "LocalHost", "localhost.", "api.localhost", "api.localhost.", "127.0.0.1.",
)  # fmt: skip
NEAR = (
    "10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.1.10", "169.254.1.1", "167772161",
    "0xa000001", "0xC0A80101", "10.1", "192.168.257", "fc00::1", "fd12:3456::1", "fe80::1", "::ffff:10.0.0.1",
    "::ffff:192.168.1.1", "gpu", "GPU-BOX", "my_box", "box1", "1box", "gpu.local", "gpu.local.", "GPU.LAN",
    "a.b.internal", "nas.home.arpa", "localhost.localdomain",
)  # fmt: skip
FAR = (
    "8.8.8.8", "134744072", "0x08080808", "0x8.0x8.0x8.0x8", "010.010.010.010", "8.8.2056", "8.526344",
    "8.8.8.8.",
    "11.0.0.1", "172.15.255.255", "172.32.0.1", "192.167.1.1", "192.169.1.1", "169.253.1.1",
    "126.255.255.255",
    "128.0.0.1", "0.0.0.1", "100.64.0.1", "198.18.0.1", "192.0.2.1", "255.255.255.255", "240.0.0.1",
    "2001:4860:4860::8888", "::2", "::ffff:8.8.8.8", "::ffff:808:808", "::8.8.8.8", "64:ff9b::8.8.8.8",
    "64:ff9b:1::808:808", "2002:808:808::1", "2001::1", "fec0::1", "fbff::1", "ff02::1",
    "api.openai.com", "localhost.evil.com", "127.0.0.1.evil.com", "evil.com.", "ai.",
    "evillocalhost.com",
    "notlocal.com", "mylocal.example", "x.locals", "evil\u3002com", "evil\uff0ecom",
    "\uff4c\uff4f\uff43\uff41",
    "evil%2ecom", "evil.com#localhost", "evil.com\\.local", "127.0.0.1@evil.com", "evil.com/.local",
    "a b.local",
    ".", "..", ".local", "-x", "x-", "a..local", "0x", "0xg", "1.2.3.4.5", "999.1.1.1", "4294967296", "",
)  # fmt: skip


@pytest.mark.parametrize("host", HERE)
def test_this_machine_by_all_of_its_names(host: str) -> None:
    assert endpoint.is_this_machine(host)
    assert endpoint.is_near(host)


@pytest.mark.parametrize("host", NEAR)
def test_the_local_network(host: str) -> None:
    assert endpoint.is_near(host)
    assert not endpoint.is_this_machine(host)


@pytest.mark.parametrize("host", FAR)
def test_everything_else_is_far_away(host: str) -> None:
    assert not endpoint.is_near(host)
    assert not endpoint.is_this_machine(host)


def test_no_host_is_not_near() -> None:
    assert not endpoint.is_near(None)
    assert not endpoint.is_this_machine(None)


@pytest.mark.parametrize(
    ("address", "near"),
    [
        ("http://127.0.0.1:8080/v1", True),
        ("HTTP://LOCALHOST:1/v1", True),
        ("http://[::1]:8080", True),
        ("http://[::ffff:10.0.0.1]/v1", True),
        ("http://gpu:8000/v1", True),
        ("https://api.openai.com/v1", False),
        ("http://[::ffff:8.8.8.8]/v1", False),
        ("http://0x08080808/v1", False),
        ("http://134744072/v1", False),
        ("http://127.0.0.1@evil.com/v1", False),
        ("http://127.0.0.1:80@evil.com/v1", False),
        ("http://evil.com#@127.0.0.1/v1", False),
        ("http://evil.com?@127.0.0.1/v1", False),
        ("http://evil.com\\@127.0.0.1/v1", False),
        ("http://127.0.0.1\\@evil.com/v1", False),
        ("http://evil\u3002com/v1", False),
        ("http://127.0.0.1\t.evil.com/v1", False),
        ("http:///evil.com", False),
        ("//evil.com", False),
        ("evil.com//127.0.0.1", False),
        ("unix:///run/model.sock", False),
        ("http://", False),
    ],
)
def test_offline_asks_no_server_that_is_far_away(address: str, near: bool) -> None:
    for setting in ("offline", "local"):
        refused = endpoint.find_refusal(Profile(model="openai/m", api_base=address, **{setting: True}))
        if not near:
            assert refused is not None, address
        elif setting == "offline":
            assert refused is None, address


@pytest.mark.parametrize("model", ["gpt-4o", "anthropic/claude-x", "gemini/g", "bedrock/b", "azure/a", "x"])
def test_offline_asks_no_provider(model: str) -> None:
    refused = endpoint.find_refusal(Profile(model=model, offline=True))
    assert refused is not None
    assert refused.setting == "offline"


@pytest.mark.parametrize("model", ["demo", "ollama/m", "ollama_chat/m", "lm_studio/m", "llamafile/m"])
def test_a_model_of_this_machine_may_be_asked_whatever_is_switched_off(model: str) -> None:
    profile = Profile(model=model, local=True, offline=True)
    assert endpoint.find_server(profile) == "localhost"
    assert endpoint.find_refusal(profile) is None
    assert endpoint.is_home(profile)


def test_a_function_of_the_profile_is_never_taken_for_a_model_of_this_machine() -> None:
    assert not endpoint.is_home(Profile(model="ollama/m", completions=("f", "functions.py")))
    assert not endpoint.is_home(Profile(model="openai/m", api_base="http://127.0.0.1:1"))


@pytest.mark.parametrize(
    ("settings", "named"),
    [({"local": True}, "local"), ({"offline": True}, "offline"), ({"local": True, "offline": True}, "local")],
)
def test_the_refusal_of_a_function_names_the_setting_to_change(settings: dict[str, bool], named: str) -> None:
    refused = endpoint.find_refusal(Profile(model="m", completions=("f", "functions.py"), **settings))
    assert refused is not None
    assert refused.setting == named
    assert refused.sentence.startswith(f"{named} is on")
