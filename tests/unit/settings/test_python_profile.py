"""Profiles that are Python programs: what they set counts, and a limit that is not understood is refused."""

from pathlib import Path

import pytest

from oi_tui import paths, profiles
from oi_tui.engine.credentials.trust import ExternalContent
from oi_tui.engine.llm import system_message
from oi_tui.engine.llm.base import Request, Text
from oi_tui.engine.llm.transport.client import ModelProcess
from oi_tui.engine.settings import python_profile
from oi_tui.engine.settings.profile import Profile
from oi_tui.engine.settings.setting import ProfileError

_IMPORT = "from interpreter import interpreter\n"
_LANGUAGES = "interpreter.core.computer.terminal.languages"


def run_profile(text: str) -> Profile:
    """The profile that a trusted program makes."""
    return profiles.make_profile(ExternalContent("python profile", "/p.py", text))


def read_refusal(text: str) -> str:
    """With which words a program is refused."""
    with pytest.raises(ProfileError) as caught:
        run_profile(text)
    return str(caught.value)


@pytest.mark.parametrize(
    ("statement", "languages"),
    [
        ("c.languages = [l for l in c.languages if l.name.lower() == 'python']", ("python",)),
        ("c.languages = [l for l in c.languages if l.name == 'Python']", ("python",)),
        ("c.languages = [l for l in c.languages if l.name == 'python']", ("python",)),
        ("c.languages = [l for l in c.languages if l.name in ('PYTHON', 'r')]", ("python", "r")),
        ("c.languages = [l.name for l in c.languages if l.name == 'python']", ("Python",)),
        ("c.languages = [l for l in c.languages if l.name in ['py', 'bash']]", ("python", "shell")),
        ("c.terminal.languages = [l for l in c.languages if 'bash' in l.aliases]", ("shell",)),
        ("c.languages = ['python', 'shell']", ("python", "shell")),
        ("c.languages = ('python',)", ("python",)),
        ("for each in list(c.languages):\n    if each.name != 'Ruby': c.languages.remove(each)", ("ruby",)),
        ("del c.languages[1:]", ("python",)),
        ("c.languages.clear(); c.languages.append('shell')", ("shell",)),
        ("c.languages = list(c.languages)", ()),
        ("setattr(c, 'languages', ['python'])", ("python",)),
        ("vars(c)['languages'] = ['python']", ("python",)),
        (
            f"from {_LANGUAGES}.python import Python\nc.languages = [Python]",
            ("python",),
        ),
        (
            f"import {_LANGUAGES}.r as r\nc.languages = [c.languages[1], r.R]",
            ("shell", "r"),
        ),
        (
            f"from {_LANGUAGES}.r import R\nc.languages = [l for l in c.languages if issubclass(l, R)]",
            ("r",),
        ),
        ("c.languages = [l for l in c.languages if l.__name__ == 'Python']", ("python",)),
        ("c.languages = [l for l in c.languages if l().name == 'Python']", ("python",)),
        ("c.languages = [l for l in c.languages if l.file_extension in ('py', 'sh')]", ("python", "shell")),
        ("c.languages = [l for l in c.languages if 'Python' in str(l)]", ("python",)),
    ],
)
def test_languages_are_restricted_in_every_manner(statement: str, languages: tuple[str, ...]) -> None:
    profile = run_profile(f"{_IMPORT}c = interpreter.computer\n{statement}\n")
    assert profile.languages == languages
    assert profile.unknown == ()


@pytest.mark.parametrize(
    ("statements", "words"),
    [
        (
            "class E2B:\n    name = 'python'\ninterpreter.computer.languages = [E2B]",
            "line 4: computer.languages: E2B is a class",
        ),
        ("class E2B: pass\ninterpreter.computer.languages.append(E2B)", "computer.languages: E2B is a class"),
        ("interpreter.computer.languages = []", "line 2: computer.languages: is empty"),
        ("interpreter.computer.languages.clear()", "line 2: computer.languages: is empty"),
        ("interpreter.computer.languages = 'python'", "line 2: computer.languages: expected a list"),
        ("interpreter.computer.languages = {'python'}", "line 2: computer.languages: expected a list"),
        ("interpreter.computer.languages = [1]", "line 2: computer.languages: expected a list"),
        ("interpreter.computer.languages = interpreter.others", "computer.languages: expected a list"),
        ("interpreter.computer = object()", "line 2: computer: is a group of settings"),
        ("interpreter.llm = object()", "line 2: llm: is a group of settings"),
        ("interpreter.offline = 'yes'", "line 2: offline: expected true or false, not 'yes'"),
        ("interpreter.offline = 1", "line 2: offline: expected true or false, not 1"),
        ("interpreter.offline = interpreter.is_offline", "line 2: offline: expected true or false"),
        ("interpreter.ofline = True", "line 2: ofline: is not a setting; did you mean offline?"),
        ("interpreter.llm.max_budgett = 1", "llm.max_budgett: is not a setting; did you mean"),
        ("interpreter.safemode = 'ask'", "line 2: safemode: is not a setting; did you mean safe_mode?"),
        ("interpreter.safe_mode = 1", "line 2: safe_mode: expected one of off, ask, auto"),
        ("interpreter.max_budget = float('nan')", "line 2: llm.max_budget: expected a number of at least 0"),
        ("interpreter.max_budget = float('inf')", "line 2: llm.max_budget: expected a number of at least 0"),
        ("interpreter.max_budget = -1", "line 2: llm.max_budget: expected a number of at least 0"),
        ("setattr(interpreter, '\\uff4fffline', True)", "is not a setting; did you mean offline?"),
        ("setattr(interpreter, 'off\\u200bline', True)", "is not a setting; did you mean offline?"),
        ("object.__setattr__(interpreter, 'offline', True)", "line 2: AttributeError"),
        ("interpreter['offline'] = True", "line 2: TypeError"),
        ("interpreter.set_offline(True)", "line 2: offline: set_offline() does not set it in a profile"),
        ("interpreter.llm.set_max_budget(3)", "llm.max_budget: llm.set_max_budget() does not set it"),
        ("interpreter.llm.set('max_budget', 3)", "max_budget: llm.set() does not set it"),
        ("interpreter.apply({'llm': {'max_budget': 3}})", "max_budget: apply() does not set it"),
        ("interpreter.update(ofline=True)", "line 2: ofline: is not a setting; did you mean offline?"),
        ("interpreter.limit_languages(['python'])", "did you mean computer.languages?"),
        ("interpreter.computer.disable('shell')", "computer.disable: is not a setting, but may be meant as"),
        ("interpreter.load_settings('strict.yaml')", "load_settings() loads another profile"),
        ("interpreter.profile = 'strict'", "line 2: profile: is not a setting, and what it names"),
        ("interpreter.no_shell = True", "line 2: no_shell: is not a setting, but may be meant as a limit"),
        ("interpreter.computer.max_runtime = 9", "computer.max_runtime: is not a setting, but may be meant"),
        ("interpreter.computer.run = print", "line 2: computer.run: is replaced by a function"),
        ("import os\nos.environ['OI_TUI_OFFLINE'] = '1'", "os.environ['OI_TUI_OFFLINE'] has no effect"),
        ("import os\nos.environ['OPENAI_API_BASE'] = 'http://localhost'", "requests would go elsewhere"),
        (
            "from interpreter import OpenInterpreter\nclass Mine(OpenInterpreter): pass",
            "line 3: TypeError: a profile cannot extend OpenInterpreter",
        ),
        (
            f"from {_LANGUAGES}.x import Other\ninterpreter.computer.languages = [Other]",
            "line 3: computer.languages: expected a list of strings, not a list with Other",
        ),
        ("from interpreter import OpenInterpreter\nOpenInterpreter(offline='yes')", "offline: expected true"),
        ("from interpreter.core import profile\nprofile(interpreter, 'x')", "line 3: profile() loads"),
        ("input('Which model? ')", "line 2: EOFError: the profile asks for input"),
        ("exit()", "line 2: SystemExit: the profile ends the program"),
    ],
)  # fmt: skip
def test_a_limit_that_is_not_understood_is_refused_with_its_line(statements: str, words: str) -> None:
    shown = read_refusal(f"{_IMPORT}{statements}\n")
    assert shown.startswith(("/p.py, line ", "/p.py: os.environ"))
    assert words in shown


def test_limits_count_by_their_older_names_and_as_arguments() -> None:
    profile = run_profile(
        "from interpreter import OpenInterpreter\n"
        "i = OpenInterpreter(offline=True, safe_mode='ask')\n"
        "i.max_budget = 0.5\ni.llm.max_output = 900\ni.computer.offline = True\ni.model = 'ollama/x'\n"
    )
    assert (profile.offline, profile.safe_mode, profile.max_budget) == (True, "ask", 0.5)
    assert (profile.max_output, profile.model, profile.unknown) == (900, "ollama/x", ())


@pytest.mark.parametrize(
    "statements",
    [
        "vars(interpreter)['offline'] = True",
        "interpreter.__dict__.update(offline=True)",
        "type(interpreter).offline = True",
        "import interpreter as i\nvars(i)['offline'] = True",
        "import copy\ncopy.deepcopy(interpreter).offline = True",
        "from interpreter import OpenInterpreter\nOpenInterpreter.offline = True",
        "from interpreter import OpenInterpreter\nOpenInterpreter([], True)",
        "import atexit\natexit.register(setattr, interpreter, 'offline', True)",
        "import threading\nthreading.Timer(0.01, setattr, (interpreter, 'offline', True)).start()",
    ],
)
def test_a_limit_that_is_set_in_an_odd_way_counts(statements: str) -> None:
    assert run_profile(f"{_IMPORT}{statements}\n").offline


def test_calls_that_limit_nothing_are_only_reported() -> None:
    profile = run_profile(
        f"{_IMPORT}interpreter.chat('offline')\ninterpreter.computer.run('shell', 'offline')\n"
        "interpreter.messages.append({'role': 'user', 'content': 'offline'})\ninterpreter.reset()\n"
    )
    assert profile.unknown == (
        "line 2: chat() has no effect in a profile",
        "line 4: messages.append() has no effect in a profile",
        "line 5: reset() has no effect in a profile",
    )


@pytest.mark.parametrize(
    ("statements", "values"),
    [
        ("i.offline = True\ni.computer.offline = False\n", {"offline": True}),
        ("i.computer.offline = True\ni.offline = False\n", {"offline": True}),
        ("i.max_output = 500\ni.llm.max_output = 5000\n", {"max_output": 500}),
        ("i.max_budget = 0.1\ni.llm.max_budget = 5\n", {"max_budget": 0.1}),
        ("i.llm.model = 'a/b'\ni.model = 'c/d'\n", {"model": "a/b"}),
        ("i.model = 'c/d'\ni.llm.model = 'a/b'\n", {"model": "a/b"}),
    ],
)
def test_a_setting_that_is_given_by_two_names_never_widens(
    statements: str, values: dict[str, object]
) -> None:
    profile = run_profile(f"from interpreter import interpreter as i\n{statements}")
    assert {name: getattr(profile, name) for name in values} == values


@pytest.mark.parametrize(("value", "mode"), [("True", "ask"), ("False", "off"), ("'auto'", "auto")])
def test_a_safe_mode_that_is_on_asks(value: str, mode: str) -> None:
    assert run_profile(f"{_IMPORT}interpreter.safe_mode = {value}\n").safe_mode == mode


def test_a_list_that_is_changed_in_place_counts() -> None:
    profile = run_profile(f"{_IMPORT}interpreter.loop_breakers.append('Over.')\n")
    assert profile.loop_breakers == (*Profile().loop_breakers, "Over.")


def test_without_execution_instructions_the_system_message_has_none() -> None:
    profile = run_profile(f"{_IMPORT}interpreter.llm.execution_instructions = False\n")
    text = system_message.write(profile, ["python"], tools=False)
    assert Profile().execution_instructions in system_message.write(Profile(), ["python"], tools=False)
    assert Profile().execution_instructions not in text


_SMALL_MODEL = """
interpreter.system_message = "Write markdown code snippets."
interpreter.code_output_template = "I ran it. Output: {content} What does it mean?"
interpreter.empty_code_output_template = "It has no output."
interpreter.code_output_sender = "user"
interpreter.llm.model = "ollama/a-model"
interpreter.llm.supports_functions = False
interpreter.llm.execution_instructions = False
interpreter.llm.max_tokens = 1000
interpreter.llm.context_window = 7000
interpreter.llm.load()
interpreter.offline = True
interpreter.display_message("> Model set")
"""
_LARGE_MODEL = """
interpreter.llm.model = "groq/a-model"
interpreter.llm.supports_functions = False
interpreter.llm.supports_vision = False
interpreter.llm.context_window = 110000
interpreter.llm.max_tokens = 4096
interpreter.custom_instructions = f"Be {1 + 1} times as brief."
"""
_LOCAL = _SMALL_MODEL.replace('interpreter.llm.model = "ollama/a-model"', "interpreter.local_setup()")
_OS = "interpreter.os = True\ninterpreter.computer.import_computer_api = True\ninterpreter.auto_run = True\n"
_HELP = 'interpreter.computer.system_message = ""\ninterpreter.computer.vision.load()\n'
_LOOP = "interpreter.loop = True\ninterpreter.auto_run = True\n"
_SKILLS = (
    'interpreter.computer.skills.path = "./skills"\ninterpreter.computer.import_skills = True\n'
    'interpreter.computer.run("python", "computer")\ninterpreter.print = True\n'
)
_TEMPLATE = 'interpreter.user_message_template = "{content} Write code."\n'
#: What each of the Python profiles of 0.4.3 does with the interpreter, in statements of our own, and the
#: words with which it is refused; "" where it is used.
PACKAGED = {
    "assistant": (_LARGE_MODEL + _SKILLS + _LOOP, ""),
    "aws-docs": (_LARGE_MODEL + 'interpreter.computer.run("python", "tool = 1")\n', ""),
    "bedrock-anthropic": (_LARGE_MODEL + "interpreter.computer.import_computer_api = True\n", ""),
    "cerebras": (
        _LARGE_MODEL + 'import os\ninterpreter.llm.api_key = os.environ.get("NO_SUCH_KEY")\n'
        'interpreter.llm.api_base = "https://api.example.com/v1"\ninterpreter.offline = False\n',
        "",
    ),
    "codestral": (_SMALL_MODEL + "interpreter.max_output = 600\n", ""),
    "codestral-few-shot": (
        _SMALL_MODEL + _TEMPLATE + 'name = interpreter.llm.model.replace("ollama/", "")\n'
        "old = interpreter.llm.max_tokens\ninterpreter.llm.max_tokens = 1\n"
        'interpreter.computer.ai.chat("ping")\ninterpreter.llm.max_tokens = old\n'
        'interpreter.messages = [{"role": "user", "type": "message", "content": "Hi"}]\n'
        "interpreter.always_apply_user_message_template = False\n",
        "",
    ),
    "codestral-os": (_SMALL_MODEL + _OS + _HELP, ""),
    "codestral-vision": (_SMALL_MODEL + _HELP, ""),
    "e2b": (
        "class E2B: pass\ninterpreter.computer.terminate()\ninterpreter.computer.languages = [E2B]\n",
        "computer.languages: E2B is a class",
    ),
    "gemma2": (_SMALL_MODEL + _TEMPLATE + "interpreter.auto_run = True\n", ""),
    "groq": (_LARGE_MODEL, ""),
    "llama3": (_SMALL_MODEL, ""),
    "llama3-os": (_SMALL_MODEL + _OS + _HELP, ""),
    "llama3-vision": (_SMALL_MODEL + _HELP, ""),
    "llama31-database": (_SMALL_MODEL + 'interpreter.custom_instructions = "A database."\n', ""),
    "local": (_LOCAL, ""),
    "local-assistant": (_LOCAL + _SKILLS, ""),
    "local-os": (_LOCAL + _OS + 'interpreter.display_message(f"{interpreter.llm.model}")\n', ""),
    "obsidian": (_LARGE_MODEL + "interpreter.auto_run = True\n", ""),
    "os": (
        _LARGE_MODEL + _OS + "interpreter.sync_computer = True\nif interpreter.auto_run: input('Go on? ')\n",
        "the profile asks for input",
    ),
    "qwen": (_SMALL_MODEL + _TEMPLATE, ""),
    "screenpipe": (_LARGE_MODEL + 'interpreter.computer.run("python", "def search(): ...")\n', ""),
    "template_profile": (_LARGE_MODEL + "interpreter.os = False\ninterpreter.loop = True\n", ""),
    "the01": (
        'interpreter.tts = "openai"\noutput = interpreter.computer.run("python", "1")\n' + _LOOP
        + 'interpreter.loop_message = "Go on."\ninterpreter.loop_breakers = ["Done."]\n',
        "",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", [*PACKAGED, "default", "fast", "vision", "snowpark", "01"])
def test_the_packaged_profiles_work_by_name_or_say_what_is_gone(name: str) -> None:
    paths.profiles().mkdir(parents=True)
    if name in ("e2b", "template_profile"):
        with pytest.raises(ProfileError, match=f"the profile {name} of Open Interpreter (ran|was)"):
            profiles.open_profile(name, write=False)
        return
    for written in (name, f"{name}.yaml", f"{name}.py"):
        profile, _ = profiles.open_profile(written, write=False)
        assert profile.unknown == ()
        assert not profile.auto_run
        assert profile.os == ("os" in name.split("-"))
    if name != "default":
        assert profile.origins


def test_a_json_profile_is_read(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text('{"llm": {"model": "demo"}, "auto_run": true}\n')
    profile, place = profiles.open_profile(str(tmp_path / "mine.json"))
    assert (profile.model, profile.auto_run, place) == ("demo", True, None)


@pytest.mark.parametrize("name", PACKAGED)
def test_the_profiles_of_open_interpreter_are_used_or_refused_with_a_reason(name: str) -> None:
    statements, words = PACKAGED[name]
    if words:
        assert words in read_refusal(_IMPORT + statements)
        return
    profile = run_profile(_IMPORT + statements)
    # What it sets counts; what has no effect is told.
    assert profile.offline == ("offline = True" in statements)
    assert profile.auto_run == ("auto_run = True" in statements)
    assert (profile.execution_instructions == "") == ("execution_instructions = False" in statements)
    reported = ("has no effect", "is not a setting", "the profile says")
    assert all(any(words in item for words in reported) for item in profile.unknown)
    assert bool(profile.startup) == (".run(" in statements)
    assert profile.local == ("local_setup()" in statements)


def test_a_program_that_prints_shows_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    run_profile(
        "import sys, os\nprint('words')\nprint('more', file=sys.stderr)\nos.system('echo even more')\n"
    )
    assert capfd.readouterr() == ("", "")


def test_an_endless_program_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(python_profile, "TIMEOUT", 0.3)
    assert "did not finish within 0.3 s" in read_refusal("while True: print('x')")


def test_a_yaml_profile_with_older_keys_counts_wherever_it_is(tmp_path: Path) -> None:
    path = tmp_path / "old.yaml"
    text = "model: gpt-4\nmax_budget: 0.5\nllm_temperature: 0.3\nsafe_mod: ask\ncomputer.offline: true\n"
    path.write_text(text)
    for profile in (
        profiles.open_profile(str(path))[0],
        profiles.make_profile(ExternalContent("profile from the network", "http://127.0.0.1/old.yaml", text)),
    ):
        assert (profile.model, profile.max_budget, profile.temperature) == ("gpt-4", 0.5, 0.3)
        assert (profile.safe_mode, profile.offline) == ("ask", True)
        assert "the file is not changed" in profile.unknown[0]
        assert paths.shorten(paths.profiles()) in profile.unknown[0]
    assert path.read_text() == text
    path.write_text("max_budget: a lot\n")
    with pytest.raises(ProfileError, match="max_budget: expected a number"):
        profiles.open_profile(str(path))


def test_code_that_a_program_runs_is_startup_code() -> None:
    profile = run_profile(
        f"{_IMPORT}run = interpreter.computer.run\n"
        "run('python', 'def look(): return 7')\n"
        "output = run(language='shell', code='A=1', display=True)\n"
        "interpreter.computer.terminal.run('python', code='x = 1')\n"
    )
    assert profile.startup == (
        ("python", "def look(): return 7"),
        ("shell", "A=1"),
        ("python", "x = 1"),
    )
    assert profile.unknown == ()


def test_what_a_program_displays_is_reported_and_loading_needs_nothing() -> None:
    profile = run_profile(
        f"{_IMPORT}interpreter.llm.load()\ninterpreter.display_message('> Model\\nset')\n"
        "interpreter.local_setup()\ninterpreter.computer.mouse.move('x')\n"
    )
    assert profile.local
    assert profile.unknown == (
        "line 3: the profile says: > Model set",
        "line 5: computer.mouse.move() has no effect in a profile",
    )


def test_a_program_that_ends_says_what_it_displayed() -> None:
    ends = f"{_IMPORT}interpreter.display_message('No Ollama here.')\nexit()\n"
    assert read_refusal(ends).endswith("the profile ends the program (it says: No Ollama here.)")
    missing = read_refusal("import nowhere_at_all\n")
    assert "No module named 'nowhere_at_all'; install it for the Python of oi-tui" in missing


@pytest.mark.parametrize(
    "text",
    [
        "import interpreter\ninterpreter.auto_run = True\ninterpreter.model = 'gpt-4'\n",
        "import interpreter as oi\noi.interpreter.auto_run = True\noi.llm.model = 'gpt-4'\n",
        "from interpreter.core.core import OpenInterpreter\nOpenInterpreter(auto_run=True).model = 'gpt-4'\n",
        "\ufefffrom interpreter import interpreter as i\r\ni.auto_run = True\r\ni.llm.model = 'gpt-4'\r\n",
    ],
)
def test_a_program_counts_in_whichever_way_it_imports_the_interpreter(text: str) -> None:
    profile = run_profile(text)
    assert (profile.auto_run, profile.model, profile.unknown) == (True, "gpt-4", ())


@pytest.mark.parametrize(("ours", "kept"), [("", 0.5), ("interpreter.llm.max_budget = 0.1\n", 0.1)])
def test_the_budget_of_litellm_counts_unless_ours_is_lower(ours: str, kept: float) -> None:
    text = "import sys, types\nsys.modules['litellm'] = types.SimpleNamespace(max_budget=0.5)\n"
    assert run_profile(f"from interpreter import interpreter\n{ours}{text}").max_budget == kept


def test_a_limit_set_on_the_module_is_not_lost() -> None:
    assert run_profile(
        "import interpreter\ninterpreter.offline = True\ninterpreter.safe_mode = 'ask'\n"
    ).offline
    assert "line 2: safe_mode" in read_refusal("import interpreter\ninterpreter.safe_mode = 'sometimes'\n")


def test_a_program_with_a_model_of_its_own_may_change_what_it_reads() -> None:
    text = (
        "import interpreter\nfrom interpreter.core.core import OpenInterpreter\n"
        "from interpreter import interpreter as again, BaseLanguage\n"
        "again.system_message += 'Be brief.'\n"
        "again.loop_breakers = list(again.loop_breakers) + ['Enough.']\n"
        "again.computer.languages = [item for item in again.computer.languages if item.name == 'python']\n"
        "interpreter.llm.completions = lambda messages: iter(['Hello.'])\n"
    )
    profile = run_profile(text)
    assert profile.system_message.endswith("Be brief.")
    assert profile.completions
    model = ModelProcess(program=profile.completions)
    try:
        pieces = list(model.reply(Request(model="own", messages=[{"role": "user", "content": "hello"}])))
    finally:
        model.close()
    assert "".join(piece.text for piece in pieces if isinstance(piece, Text)) == "Hello."
