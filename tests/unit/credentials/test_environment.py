"""Keys and passwords stay out of sight of programs."""

import json
import os
import subprocess
import sys

import pytest

from oi_tui.engine.credentials.redaction import remove_secrets
from oi_tui.runtimes import Computer
from oi_tui.system import environment as privacy

NAMES = [
    "HF_TOKEN",
    "AWS_SESSION_TOKEN",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_ACCESS_KEY_ID",
    "AZURE_AD_TOKEN",
    "DATABRICKS_TOKEN",
    "GITHUB_TOKEN",
    "GH_PAT",
    "NPM_TOKEN",
    "npm_config__authToken",
    "VAULT_TOKEN",
    "WATSONX_APIKEY",
    "WATSONX_ZENAPIKEY",
    "OCI_KEY",
    "OCI_KEY_FILE",
    "OPENAI_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "PGPASSWORD",
    "MYSQL_PWD",
    "DB_PASS",
    "SSHPASS",
    "RESTIC_PASSWORD_FILE",
    "GPG_PASSPHRASE",
    "SENTRY_DSN",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "DOCKER_AUTH_CONFIG",
    "OAUTH2_CLIENT",
    "SLACK_WEBHOOK",
    "apiKey",
    "COMPOSER_AUTH",
    "REDIS_PASSWD",
    "OI_TUI_API_KEY",
    "AZURE_STORAGE_SAS",
    "WALLET_MNEMONIC",
    "TOTP_SEED",
    "HASH_SALT",
]
HARMLESS = [
    "PATH",
    "HOME",
    "EDITOR",
    "KEYBOARD",
    "MY_KEYBOARD",
    "XAUTHORITY",
    "SSH_AUTH_SOCK",
    "GPG_AGENT_INFO",
    "TOKENIZERS_PARALLELISM",
    "MONKEY",
    "AUTHOR",
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "SSH_ASKPASS",
    "GIT_ASKPASS",
    "COMPASS",
    "BYPASS",
    "TURKEY",
    "LS_COLORS",
    "PATTERN",
    "PYTHONPATH",
    "GNOME_KEYRING_CONTROL",
    "PYTHON_KEYRING_BACKEND",
    "SSLKEYLOGFILE",
    "KEYTIMEOUT",
    "PASSWORD_STORE_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
    "SESSION_MANAGER",
    "AUTHENTICATED_USER",
    "COLORTERM",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
]
VALUES = (
    "postgres://me:hunter2@db.example/x",
    "redis://:hunter2@127.0.0.1:6379/0",
    "https://0123456789abcdef0123@git.example/x",
    "Server=db;Uid=me;Pwd=hunter2;",
    "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=abc==",
    "https://hooks.slack.com/services/T0/B0/x",
    "-----BEGIN RSA PRIVATE KEY-----\nabc",
    "sk-proj-0123456789abcdef",
    "Authorization: Bearer abc",
    '{"authorization": "Basic bWU6cHc="}',
    "https://example.blob.core.windows.net/c?sv=2024&sig=abcdef%3D",
    "https://b.s3.amazonaws.com/k?X-Amz-Signature=0123456789abcdef",
    "https://api.example/v1?api_key=0123456789",
    "https://discord.com/api/webhooks/1/abc",
    "hvs.0123456789abcdef",
    "dapi0123456789abcdef",
    "SG.0123456789abcdefghij.0123456789abcdef",
    "1234567890:AA0123456789abcdef",
    "ghp_0123456789abcdefghij",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.sig",
)
OPEN_VALUES = (
    "https://example.org/a@b",
    "ssh://git@example.org/x",
    "host:5432",
    "me@example.org",
    "a b c",
    "https://example.org/?key=abcdefgh&q=sig",
    "authorization: none",
    "r8_short",
    "12:30:AA",
)


@pytest.mark.parametrize("name", NAMES)
def test_a_variable_is_secret_by_its_name(name: str) -> None:
    assert privacy.is_secret(name, "canary")


@pytest.mark.parametrize("name", HARMLESS)
def test_other_names_are_harmless(name: str) -> None:
    assert not privacy.is_secret(name, "/some/where")


@pytest.mark.parametrize("value", VALUES)
def test_a_variable_is_secret_by_its_value(value: str) -> None:
    assert privacy.is_secret("WHATEVER", value)


@pytest.mark.parametrize("value", OPEN_VALUES)
def test_other_values_are_harmless(value: str) -> None:
    assert not privacy.is_secret("DATABASE_URL", value)


def test_folders_quantities_and_switches_are_no_secrets() -> None:
    assert not any(privacy.is_secret(name, "/home/me") for name in ("PWD", "OLDPWD", "ORIGINAL_PWD"))
    assert not privacy.is_secret("MAX_TOKENS", "4096")
    assert not privacy.is_secret("DISABLE_AUTH", "true")
    assert privacy.is_secret("DB_PASSWORD", "1234")


def test_single_variables_are_let_through_by_name_or_beginning() -> None:
    environment = {"HF_TOKEN": "x1", "AWS_SESSION_TOKEN": "x2", "AWS_SECRET_ACCESS_KEY": "x3", "HOME": "/"}
    assert privacy.list_withheld(["AWS_*"], environment) == ("HF_TOKEN",)
    assert privacy.list_withheld(["HF_TOKEN", "AWS"], environment) == (
        "AWS_SESSION_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
    )
    assert privacy.list_withheld(["*"], environment) == ()


def test_what_is_held_back_is_taken_out_of_texts() -> None:
    environment = {"DATABASE_URL": "postgres://me:hunter22@db/x", "DB_PASS": "correct-horse"}
    words = remove_secrets("it is hunter22, or correct-horse", environment)
    assert words == "it is [key], or [key]"


def test_the_model_is_reported_the_names_and_not_the_values() -> None:
    computer = Computer(hidden=("HF_TOKEN", "DATABASE_URL"))
    try:
        (note,) = [item for item in computer.notes if "HF_TOKEN" in item]
        assert "DATABASE_URL, HF_TOKEN" in note
        assert "pass_environment" in note
    finally:
        computer.close()


#: Everything that run code could read of the processes around it, as root too.
LOOK = (
    "import glob\n"
    "found = []\n"
    "for path in glob.glob('/proc/[0-9]*/environ') + glob.glob('/proc/[0-9]*/cmdline'):\n"
    "    try:\n"
    "        data = open(path, 'rb').read()\n"
    "    except OSError:\n"
    "        continue\n"
    "    if b'can' + b'ary-4711' in data:\n"
    "        found.append(path)\n"
    "print('FOUND', found)\n"
)
#: An application with a model process and a language, that asks for the key itself at the end.
APPLICATION = (
    "import ctypes, json, os, sys\n"
    "from oi_tui import OpenInterpreter\n"
    "from oi_tui.api.shared_model import POOL\n"
    "with OpenInterpreter() as interpreter:\n"
    "    POOL.lease('test').start()\n"
    "    (told,) = interpreter.computer.run('python', os.environ['LOOK'])\n"
    "    (shell,) = interpreter.computer.run('shell', 'env; echo over')\n"
    "getenv = ctypes.CDLL(None).getenv\n"
    "getenv.restype = ctypes.c_char_p\n"
    "here = [os.environ['HF_TOKEN'], getenv(b'HF_TOKEN').decode()]\n"
    "print(json.dumps([told['content'], shell['content'], here]))\n"
)
linux = pytest.mark.skipif(sys.platform != "linux", reason="this needs the /proc of Linux")


@pytest.mark.slow
@linux
@pytest.mark.needs("bash")
def test_run_code_finds_no_key_in_any_process_of_ours() -> None:
    secrets = {"HF_TOKEN": "canary-4711", "DATABASE_URL": "postgres://me:canary-4711@db/x", "LOOK": LOOK}
    environment = {**os.environ, **secrets}
    run = subprocess.run(
        [sys.executable, "-c", APPLICATION], capture_output=True, text=True, env=environment, timeout=60
    )
    assert run.returncode == 0, run.stderr
    found, shell, here = json.loads(run.stdout)
    assert "FOUND []" in found
    assert "canary" not in shell
    assert "OI_TUI_HELD_BACK=DATABASE_URL,HF_TOKEN" in shell
    assert here == ["canary-4711", "canary-4711"]


@linux
def test_the_whole_application_closes_itself() -> None:
    code = (
        "import ctypes, os; from oi_tui.system.environment import close_to_others; close_to_others();"
        "print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0));"
        "print(os.environ['HF_TOKEN'], os.environ['EDITOR'])"
    )
    # What is told of a process without the memory of another user: the first environment, as root sees it.
    code += ";print(open('/proc/self/environ').read() if os.geteuid() == 0 else 'HF_TOKEN=******')"
    environment = {**os.environ, "HF_TOKEN": "canary", "EDITOR": "vi"}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    dumpable, here, first = run.stdout.split("\n", 2)
    # PR_GET_DUMPABLE, from linux/prctl.h, is 1 for an ordinary process.
    assert (dumpable, here) == ("0", "canary vi"), run.stderr
    assert "HF_TOKEN=******" in first
    assert "canary" not in first
