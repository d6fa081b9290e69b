"""Checks the languages, the model, the settings and the sandbox."""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from oi_tui import paths
from oi_tui.doctor import server
from oi_tui.doctor.finding import Diagnosis
from oi_tui.system.environment import can_be_closed

if TYPE_CHECKING:
    from oi_tui.doctor.active_profile import ActiveProfile
    from oi_tui.engine.models.local_servers import LocalModel
    from oi_tui.engine.settings.profile import Profile

_READABLE = (
    "programs can read the keys in the environment that oi-tui was started with, as ps -E shows them: this "
    "system does not let oi-tui hide them"
)
_SWITCH = "Review code before you press y, or turn it on: --sandbox"
#: Providers' variables that are looked for first; others are found by their names.
_ENDINGS = ("_API_KEY", "_API_TOKEN")


def check_settings(active: "ActiveProfile | None" = None) -> Iterator[Diagnosis]:
    """Check the profile in use, the others of its folder, and what cannot act on this machine."""
    from oi_tui import profiles
    from oi_tui.engine.settings.profile import ProfileError
    from oi_tui.engine.settings.profile import list_settings as declared

    active = active or _try_default_settings()
    yield from _describe_active(active)
    folder = paths.profiles()
    for path in sorted(folder.glob("*.y*ml")) if folder.is_dir() else ():
        if path == active.path:
            continue
        try:
            profile = profiles.load(path, write=False)
        except (ProfileError, OSError) as error:
            yield Diagnosis(False, str(error), f"Correct {paths.shorten(path)}, or move it away.")
            continue
        yield Diagnosis(None, f"another profile is {paths.shorten(path)}: the model is {profile.model}")
        yield from _list_remarks(profile, path)
    for setting in declared():
        if reason := setting.cannot():
            yield Diagnosis(None, f"{setting.key} has no effect: {reason}")


def _describe_active(active: "ActiveProfile") -> Iterator[Diagnosis]:
    """Yield the settings in effect, where they come from, and what is wrong with them."""
    from oi_tui.engine.settings.profile import Profile, ProfileError
    from oi_tui.engine.settings.profile import list_settings as declared

    profile, path = active.profile, active.path
    if active.problem:
        yield Diagnosis(False, f"{active.problem}; the defaults are checked instead", active.fix)
        return
    model = f"the model is {profile.model}"
    problem = ""
    if path is None:
        yield Diagnosis(True, f"the profile in use is not one of your files: {model}")
    elif path.exists():
        try:
            Profile.load(path) if path.suffix != ".py" else None
        except (ProfileError, OSError) as error:
            problem = str(error)
            fix = f"Correct {paths.shorten(path)}, or move it away."
            yield Diagnosis(False, f"{problem}; the defaults are used instead", fix)
        else:
            yield Diagnosis(True, f"profile {paths.shorten(path)}: {model}")
    elif path.stem == "default":
        yield Diagnosis(True, f"no profile yet: the defaults are used, {model}")
    else:
        yield Diagnosis(True, f"preset profile {path.stem}: {model}")
    for origin, words in (
        ("environment", "the environment"),
        ("flag", "flags"),
        ("changed", "the command line"),
    ):
        keys = [item.key for item in declared() if profile.origins.get(item.name) == origin]
        if keys:
            yield Diagnosis(None, f"set by {words}: {', '.join(keys)}")
    yield from _list_remarks(profile, path, problem)


def _list_remarks(profile: "Profile", path: Path | None, broken: str = "") -> Iterator[Diagnosis]:
    """Yield the remarks on a profile that were not made elsewhere."""
    from oi_tui.engine.settings.profile import explain_no_effect

    for remark in (*profile.unknown, *profile.notes, *explain_no_effect(profile)):
        if not (broken and broken in remark):
            # What begins with a line is about the file.
            place = f"{path.name}, " if path and remark.startswith("line ") else ""
            yield Diagnosis(None, f"{place}{remark}")
    if path and profile.api_key and profile.origins.get("api_key") == "profile":
        fix = "f2, then f3 in oi-tui moves it into private storage."
        yield Diagnosis(None, f"{path.name} contains an API key, which anyone with the file can read", fix)


def check_languages(active: "ActiveProfile | None" = None) -> Iterator[Diagnosis]:
    """Check every language that is known: its program's version, or how to get it."""
    from oi_tui.custom_languages import CustomLanguages
    from oi_tui.runtimes.computer import Computer
    from oi_tui.runtimes.language import Choices
    from oi_tui.runtimes.languages import LANGUAGES
    from oi_tui.services.languages import explain_unknown

    active = active or _try_default_settings()
    profile = active.profile
    programs = {name: value for name in ("python", "shell") if (value := getattr(profile, name))}
    custom = CustomLanguages(
        profile.custom_languages,
        Choices(profile.python, profile.shell),
        active.path.parent if active.path else Path.cwd(),
        may_ask=not profile.sandbox,
    )
    computer = Computer(
        cwd=Path(os.sep),
        python=programs.get("python"),
        shell=programs.get("shell"),
        declared=(*LANGUAGES, *custom.languages),
    )
    there = set(computer.languages)
    for problem in explain_unknown(profile, computer, custom):
        yield Diagnosis(False, problem, "Correct it, or leave it out.")
    languages = (*LANGUAGES, *custom.languages)
    with ThreadPoolExecutor(max_workers=8, thread_name_prefix="doctor-language") as pool:
        for language, words in zip(
            languages, pool.map(computer.describe, (item.name for item in languages)), strict=True
        ):
            if language.name in there:
                has_title = words.startswith((language.title, language.name))
                yield Diagnosis(True, words if has_title else f"{language.title}: {words}")
            elif language.name in programs:
                yield Diagnosis(
                    False, f"{language.title}: {programs[language.name]} not found", language.hint
                )
            else:
                yield Diagnosis(None, f"{language.title} is not installed", language.hint)


def check_sandbox(active: "ActiveProfile | None" = None) -> Iterator[Diagnosis]:
    """Check whether the sandbox is on, and whether it works, by trying it."""
    from oi_tui.runtimes.sandbox import sandbox

    finding = sandbox.find_problem()
    on = (active or _try_default_settings()).profile.sandbox
    if on and finding:
        yield Diagnosis(False, f"the sandbox is on, and nothing can run: {finding[0]}", finding[1])
    elif on:
        yield Diagnosis(True, "the sandbox is on: programs can reach only the working directory")
        if weakness := sandbox.explain_weakness():
            yield Diagnosis(None, *weakness)
    else:
        yield Diagnosis(None, "the sandbox is off: code that you approve runs with your permissions", _SWITCH)
        if finding:
            yield Diagnosis(None, f"it would not work on this machine: {finding[0]}", finding[1])


def check_kept_keys(active: "ActiveProfile | None" = None) -> Iterator[Diagnosis]:
    """Check the keys that were given to us to keep, by name, the model's own, and
    where a new one would go.
    """
    from oi_tui.engine.credentials import private_file
    from oi_tui.engine.credentials.key_source import find_key_source
    from oi_tui.engine.credentials.keys import ORDER, Secrets

    secrets = Secrets()
    try:
        names = sorted(private_file.read(secrets.path))
    except OSError as error:
        yield Diagnosis(False, str(error), f"Check {paths.shorten(secrets.path)}, or move it away.")
    else:
        for name in names:
            yield Diagnosis(True, f"{name} is saved in {paths.shorten(secrets.path)}")
    profile = (active or _try_default_settings()).profile
    place = find_key_source(profile, secrets)
    if place.name:
        fix = "" if place.found else "Type it in the settings: f2 in oi-tui."
        yield Diagnosis(place.found or None, f"{profile.model}: {place.words}", fix)
    yield Diagnosis(True, f"a new API key would be saved in {secrets.place()}. {ORDER}")


def check_models(active: "ActiveProfile | None" = None) -> Iterator[Diagnosis]:
    """Check keys, by name and never by value; servers on this machine;
    and whether the model's own one answers.
    """
    from oi_tui.engine.credentials.keys import find_provider
    from oi_tui.engine.llm import endpoint
    from oi_tui.engine.models import local_servers

    profile = (active or _try_default_settings()).profile
    keys = [name for name in sorted(os.environ) if name.endswith(_ENDINGS) and os.environ[name].strip()]
    for name in keys:
        value = os.environ[name]
        if value != value.strip() or value[:1] in "\"'":
            yield Diagnosis(False, f"{name} has spaces or quotation marks around it", f"Set {name} again.")
        else:
            yield Diagnosis(True, f"{name} is set")
    if not keys:
        yield Diagnosis(None, "no provider's API key is in the environment")
    elif not can_be_closed():
        yield Diagnosis(None, _READABLE, "Keep keys in the settings instead: f2 in oi-tui.")
    local_models = local_servers.find()
    for name, served in groupby(local_models, key=lambda entry: entry.server):
        names = [item.model for item in served]
        more = f" and {len(names) - 4} more" if len(names) > 4 else ""
        yield Diagnosis(True, f"{name} is running: {', '.join(names[:4])}{more}")
    if not local_models:
        yield Diagnosis(None, "no model server found on this machine")
    if endpoint.find_base(profile):
        yield server.check_server(profile)
    elif find_provider(profile.model) in ("ollama", "ollama_chat"):
        yield from _check_ollama(profile.model, local_models)
    elif not (local_models or keys or profile.api_key or profile.model == "demo"):
        yield Diagnosis(
            None,
            "no model is available yet: without one, oi-tui is only a console for its languages",
            "export OPENAI_API_KEY=…, or get Ollama from https://ollama.com; oi-tui --demo needs neither.",
        )


def _check_ollama(model: str, found: "Sequence[LocalModel]") -> Iterator[Diagnosis]:
    """Check whether Ollama on this machine can be asked for the model."""
    from oi_tui.engine.models.local_servers import is_named

    there = [item for item in found if item.server == "Ollama"]
    if not there:
        fix = "Start it (ollama serve), or choose another model: %model lists those on this machine."
        yield Diagnosis(False, f"{model} needs Ollama, which does not answer or has no model", fix)
    elif not any(is_named(item, model) for item in there):
        fix = (
            f"ollama pull {model.partition('/')[2]}, or choose another model: %model lists those on this "
            "machine."
        )
        yield Diagnosis(False, f"Ollama has no model {model.partition('/')[2]}", fix)


def _try_default_settings() -> "ActiveProfile":
    """Return the settings of a start without flags, as far as they can be read."""
    from oi_tui.doctor import active_profile
    from oi_tui.engine.settings.profile import ProfileError

    try:
        return active_profile.load_default_settings()
    except (ProfileError, OSError) as error:
        return active_profile.make_defaults(error)
