"""Every command, in the order in which help lists them."""

from oi_tui.commands.registry import CommandError, CommandTarget, command, number, on_off, parted

#: Where Open Interpreter saves messages, and loads them from, when no path is given.
_MESSAGES = "messages.json"


@command("help", "Show keys and commands", keys="f1", shown=True)
def _help(target: CommandTarget, _: str) -> None:
    target.open_help()


@command("keys", "List all key bindings")
def _keys(target: CommandTarget, _: str) -> None:
    target.list_keys()


@command("new", "Start a new conversation", keys="ctrl+n")
def _new(target: CommandTarget, _: str) -> None:
    target.start_conversation()


@command("conversations", "Find and open another conversation", keys="ctrl+r", shown=True)
def _conversations(target: CommandTarget, _: str) -> None:
    target.open_navigator()


@command("profile", "Edit settings, or switch to profile NAME", usage="[NAME]", keys="f2", shown=True)
def _profile(target: CommandTarget, argument: str) -> None:
    target.open_profile(argument)


@command("trust", "Review this folder's settings, and trust them or not")
def _trust(target: CommandTarget, _: str) -> None:
    target.trust_folder()


@command("model", "Choose a model, or switch to MODEL", usage="[NAME]", keys="ctrl+l")
def _model(target: CommandTarget, argument: str) -> None:
    target.open_models(argument)


@command("theme", "Choose a theme, or switch to THEME", usage="[NAME]")
def _theme(target: CommandTarget, argument: str) -> None:
    target.open_themes(argument)


@command("stop", "Stop the reply, the question or the running code", keys="escape")
def _stop(target: CommandTarget, _: str) -> None:
    target.stop()


@command("continue", "Let the model continue")
def _continue(target: CommandTarget, _: str) -> None:
    target.go_on()


@command("run", "Run your own code; the model does not see it", usage="LANGUAGE CODE")
def _run(target: CommandTarget, argument: str) -> None:
    language, code = parted(argument)
    if not code:
        raise CommandError("Type a language and code: %run python print(1)")
    target.run_by_hand(language, code)


@command("auto_run", "Run code without asking, or ask again", usage="[on|off]")
def _auto_run(target: CommandTarget, argument: str) -> None:
    target.switch_auto_run(on_off(argument))


@command(
    "sandbox",
    "Turn the sandbox on or off (interpreters restart), or allow a host",
    usage="[on|off|allow HOST]",
)
def _sandbox(target: CommandTarget, argument: str) -> None:
    word, host = parted(argument)
    if word == "allow":
        target.allow_host(host.strip())
    else:
        target.switch_sandbox(on_off(argument))


@command("os", "Let the model use your screen, mouse and keyboard, or stop that", usage="[on|off]")
def _os(target: CommandTarget, argument: str) -> None:
    target.switch_os_mode(on_off(argument))


@command(
    "target", "Say where code runs, or run it elsewhere: ssh:HOST, container:NAME, local", usage="[NAME]"
)
def _target(target: CommandTarget, argument: str) -> None:
    target.switch_target(argument)


@command("permissions", "Show and revoke auto-approvals")
def _permissions(target: CommandTarget, _: str) -> None:
    target.open_permissions()


@command("undo", "Remove your last message and everything after it")
def _undo(target: CommandTarget, _: str) -> None:
    target.undo_message()


@command("redo", "Restore what %undo removed")
def _redo(target: CommandTarget, _: str) -> None:
    target.redo_message()


@command("rewind", "Go back to before your message N; without N, choose one", usage="[N]")
def _rewind(target: CommandTarget, argument: str) -> None:
    target.rewind(number(argument, "Type the number of your message: %rewind 2"))


@command("fork", "Continue in a copy; this conversation stays as it is")
def _fork(target: CommandTarget, _: str) -> None:
    target.fork()


@command("rerun", "Run earlier cells again, up to cell N; each needs approval", usage="[N]")
def _rerun(target: CommandTarget, argument: str) -> None:
    target.run_again(number(argument, "Type a cell number: %rerun 3"))


@command("offer", "Ask to run the code blocks in the text of the last reply")
def _offer(target: CommandTarget, _: str) -> None:
    target.run_blocks()


@command("files", "List the files that cells changed, or only cell N", usage="[N]")
def _files(target: CommandTarget, argument: str) -> None:
    target.tell_files(number(argument, "Type a cell number: %files 3"))


@command("restore", "Restore files as they were before cell N; undo reverts that", usage="[N|all|undo]")
def _restore(target: CommandTarget, argument: str) -> None:
    if argument not in ("", "all", "undo"):
        argument = str(number(argument, "Type a cell number, “all” or “undo”: %restore 3"))
    target.restore_files(argument)


@command("reset", "Same as %new (Open Interpreter's name)")
def _reset(target: CommandTarget, _: str) -> None:
    target.start_conversation()


@command("restart", "Restart the interpreters; the conversation stays")
def _restart(target: CommandTarget, _: str) -> None:
    target.reset_languages()


@command("export", "Export as markdown, notebook, html, script or json", usage="[FORMAT] [PATH]")
def _export(target: CommandTarget, argument: str) -> None:
    name, path = parted(argument)
    if not name:
        raise CommandError(
            "Name a format or a file: %export markdown, notebook, html, script, json or a.html."
        )
    target.export(name, path)


@command("markdown", "Export as Markdown", usage="[PATH]")
def _markdown(target: CommandTarget, argument: str) -> None:
    target.export("markdown", argument)


@command("jupyter", "Export as a Jupyter notebook", usage="[PATH]")
def _jupyter(target: CommandTarget, argument: str) -> None:
    target.export("notebook", argument)


@command("html", "Export as a web page", usage="[PATH]")
def _html(target: CommandTarget, argument: str) -> None:
    target.export("html", argument)


@command("script", "Export the code that ran, one file per language", usage="[PATH]")
def _script(target: CommandTarget, argument: str) -> None:
    target.export("script", argument)


@command("save_message", "Save the messages in Open Interpreter's format", usage="[PATH]")
def _save_message(target: CommandTarget, argument: str) -> None:
    target.export("json", argument or _MESSAGES)


@command("load_message", "Load messages in Open Interpreter's format", usage="[PATH]")
def _load_message(target: CommandTarget, argument: str) -> None:
    target.load_messages(argument or _MESSAGES)


@command("tokens", "Show tokens and cost, and what PROMPT would add", usage="[PROMPT]")
def _tokens(target: CommandTarget, argument: str) -> None:
    target.tell_tokens(argument)


@command("compact", "Summarise older messages to save tokens; undo reverts it", usage="[undo]")
def _compact(target: CommandTarget, argument: str) -> None:
    if argument not in ("", "undo"):
        raise CommandError("Type %compact, or %compact undo.")
    target.compact(undo=argument == "undo")


@command("info", "Show versions, languages and folders")
def _info(target: CommandTarget, _: str) -> None:
    target.tell_info()


@command("doctor", "Check the installation, the machine and the terminal")
def _doctor(target: CommandTarget, _: str) -> None:
    target.examine()


@command("skills", "List skills; save the code of this conversation as one", usage="[save NAME]")
def _skills(target: CommandTarget, argument: str) -> None:
    word, name = parted(argument)
    if not word:
        target.tell_skills()
    elif word in ("trust", "save") and name:
        (target.trust_skill if word == "trust" else target.save_skill)(name)
    else:
        raise CommandError("Type %skills, %skills trust NAME or %skills save NAME.")


@command(
    "mcp",
    "List MCP servers; test, add or remove one; use a prompt; review changed tools",
    usage="[test|add|remove|login|logout|prompt|trust NAME]",
)
def _mcp(target: CommandTarget, argument: str) -> None:
    action, rest = parted(argument)
    name, rest = parted(rest)
    target.manage_servers(action, name, rest)


@command("skill", "Same as %skills", usage="[save NAME]")
def _skill(target: CommandTarget, argument: str) -> None:
    _skills(target, argument)


@command(
    "languages",
    "List languages and how to install more; review and trust a custom one",
    usage="[trust NAME]",
)
def _languages(target: CommandTarget, argument: str) -> None:
    word, name = parted(argument)
    if not word:
        target.tell_languages()
    elif word == "trust" and name:
        target.trust_language(name)
    else:
        raise CommandError("Type %languages, or %languages trust NAME.")


@command("verbose", "Log requests, runs, times and errors, or stop logging them", usage="[on|off]")
def _verbose(target: CommandTarget, argument: str) -> None:
    target.switch_verbose(on_off(argument), words=False)


@command("debug", "Like %verbose, with the text sent to and from the model", usage="[on|off]")
def _debug(target: CommandTarget, argument: str) -> None:
    target.switch_verbose(on_off(argument), words=True)


@command("log", "Read the log")
def _log(target: CommandTarget, _: str) -> None:
    target.open_log()


@command("focus", "Use the running program's terminal; else read the last output", keys="ctrl+o")
def _focus(target: CommandTarget, _: str) -> None:
    target.use_terminal()


@command("variables", "List variables; enter inserts a name in the prompt", usage="[TEXT]", keys="f4")
def _variables(target: CommandTarget, argument: str) -> None:
    target.open_variables(argument)


@command("sidebar", "Show or hide variables, changed files and cost", usage="[on|off]", keys="ctrl+b")
def _sidebar(target: CommandTarget, argument: str) -> None:
    target.switch_sidebar(on_off(argument))


@command("table", "Open a data frame of Python, or a CSV, Parquet, Excel or SQLite file", usage="NAME|FILE")
def _table(target: CommandTarget, argument: str) -> None:
    if not argument:
        raise CommandError("Type the name of a variable or a file: %table df")
    target.open_table(argument)


@command("history", "Search your messages in all conversations", usage="[TEXT]", keys="ctrl+s")
def _history(target: CommandTarget, argument: str) -> None:
    target.search_history(argument)


@command("mouse", "Turn mouse support on or off", usage="[on|off]")
def _mouse(target: CommandTarget, argument: str) -> None:
    target.switch_mouse(on_off(argument))


@command("blocks", "Move to the conversation: navigate by block, copy, fold", keys="ctrl+up")
def _blocks(target: CommandTarget, _: str) -> None:
    target.focus_conversation()


@command("find", "Find text; find and replace while editing", usage="[TEXT]", keys="ctrl+f")
def _find(target: CommandTarget, argument: str) -> None:
    target.find(argument)


@command("output", "Read the last output in full, or the output of cell N", usage="[N]")
def _output(target: CommandTarget, argument: str) -> None:
    target.read_output(number(argument, "Type a cell number: %output 3"))


@command("copy", "Copy the last code", keys="ctrl+y")
def _copy(target: CommandTarget, _: str) -> None:
    target.copy_code()


@command("prompt", "Move to the prompt", keys="ctrl+down")
def _prompt(target: CommandTarget, _: str) -> None:
    target.focus_prompt()


@command("palette", "Search all commands", keys="ctrl+p")
def _palette(target: CommandTarget, _: str) -> None:
    target.open_palette()


@command("print", "Quit, and print the conversation in the terminal")
def _print(target: CommandTarget, _: str) -> None:
    target.leave_printing()


@command("quit", "Quit; the conversation is saved", keys="ctrl+q")
def _quit(target: CommandTarget, _: str) -> None:
    target.leave()
