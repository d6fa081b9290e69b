"""Every command, in the order in which help lists them."""

from oi_tui.commands.registry import CommandActions, CommandError, command, on_off, parse_number, split_word

#: Where Open Interpreter saves messages, and loads them from, when no path is given.
_MESSAGES = "messages.json"


@command("help", "Show keys and commands", keys="f1", shown=True)
def _help(actions: CommandActions, _: str) -> None:
    actions.screens.open_help()


@command("keys", "List all key bindings")
def _keys(actions: CommandActions, _: str) -> None:
    actions.screens.open_keys()


@command("new", "Start a new conversation", keys="ctrl+n")
def _new(actions: CommandActions, _: str) -> None:
    actions.start_conversation()


@command("conversations", "Find and open another conversation", keys="ctrl+r", shown=True)
def _conversations(actions: CommandActions, _: str) -> None:
    actions.screens.open_navigator()


@command("profile", "Edit settings, or switch to profile NAME", usage="[NAME]", keys="f2", shown=True)
def _profile(actions: CommandActions, argument: str) -> None:
    actions.screens.open_profile(argument)


@command("trust", "Review this folder's settings, and trust them or not")
def _trust(actions: CommandActions, _: str) -> None:
    actions.trust_folder()


@command("model", "Choose a model, or switch to NAME", usage="[NAME]", keys="ctrl+l")
def _model(actions: CommandActions, argument: str) -> None:
    actions.screens.open_models(argument)


@command("theme", "Choose a theme, or switch to NAME", usage="[NAME]")
def _theme(actions: CommandActions, argument: str) -> None:
    actions.display.switch_theme(argument)


@command("stop", "Stop the reply, the question or the running code", keys="escape")
def _stop(actions: CommandActions, _: str) -> None:
    actions.turn.stop()


@command("continue", "Let the model continue")
def _continue(actions: CommandActions, _: str) -> None:
    actions.turn.continue_turn()


@command("run", "Run your own code; the model does not see it", usage="LANGUAGE CODE")
def _run(actions: CommandActions, argument: str) -> None:
    language, code = split_word(argument)
    if not code:
        raise CommandError("Type a language and code: %run python print(1)")
    actions.languages.run(language, code)


@command("auto_run", "Run code without asking, or ask again", usage="[on|off]")
def _auto_run(actions: CommandActions, argument: str) -> None:
    actions.switch_auto_run(on_off(argument))


@command(
    "sandbox",
    "Sandbox on or off (restarts interpreters), or allow a host",
    usage="[on|off|allow HOST]",
)
def _sandbox(actions: CommandActions, argument: str) -> None:
    word, host = split_word(argument)
    if word == "allow":
        actions.sandbox.allow(host.strip())
    else:
        actions.sandbox.switch(on_off(argument))


@command("os", "Let the model use screen, mouse and keyboard, or stop that", usage="[on|off]")
def _os(actions: CommandActions, argument: str) -> None:
    actions.switch_os_mode(on_off(argument))


@command("target", "Show where code runs, or change it: ssh:HOST, local", usage="[NAME]")
def _target(actions: CommandActions, argument: str) -> None:
    actions.target.switch(argument)


@command("on", "Connect a second target for single cells, or run code there", usage="TARGET [LANGUAGE CODE]")
def _on(actions: CommandActions, argument: str) -> None:
    # A target with blanks in it stands in quotes.
    quoted = argument[:1] in ("'", '"')
    name, _, rest = argument[1:].partition(argument[0]) if quoted else argument.partition(" ")
    language, code = split_word(rest.strip())
    if not name or (language and not code):
        raise CommandError("Type a target, or a target, a language and code: %on ssh:gpu1 shell nvidia-smi")
    actions.target.run_on(name, language, code)


@command("detach", "Disconnect from the target; what runs there keeps running", usage="[TARGET]")
def _detach(actions: CommandActions, argument: str) -> None:
    actions.target.detach(argument)


@command("attach", "List what was left running on targets, or connect to it again", usage="[TARGET|NUMBER]")
def _attach(actions: CommandActions, argument: str) -> None:
    actions.target.attach(argument)


@command("get", "Copy a file from the target (or from TARGET) to this machine", usage="[TARGET] FILE [NAME]")
def _get(actions: CommandActions, argument: str) -> None:
    actions.copies.get(argument)


@command("put", "Copy a file from this machine to the target (or to TARGET)", usage="[TARGET] FILE [NAME]")
def _put(actions: CommandActions, argument: str) -> None:
    actions.copies.put(argument)


@command("connect", "Use a database in SQL cells, or list the open ones", usage="[ADDRESS|FILE [NAME]]")
def _connect(actions: CommandActions, argument: str) -> None:
    actions.databases.connect(argument)


@command("permissions", "Show and revoke auto-approvals")
def _permissions(actions: CommandActions, _: str) -> None:
    actions.screens.open_permissions()


@command("undo", "Remove your last message and everything after it")
def _undo(actions: CommandActions, _: str) -> None:
    actions.going_back.undo()


@command("redo", "Restore what %undo removed")
def _redo(actions: CommandActions, _: str) -> None:
    actions.going_back.redo()


@command("rewind", "Go back to before your message N; without N, choose one", usage="[N]")
def _rewind(actions: CommandActions, argument: str) -> None:
    actions.going_back.rewind(parse_number(argument, "Type the number of your message: %rewind 2"))


@command("fork", "Continue in a copy; this conversation stays as it is")
def _fork(actions: CommandActions, _: str) -> None:
    actions.going_back.branch()


@command(
    "rerun",
    "Run cells again: all, up to N, or only some; asks first",
    usage="[N|only N M]",
)
def _rerun(actions: CommandActions, argument: str) -> None:
    words = argument.split()
    if words[:1] != ["only"]:
        actions.turn.run_again(parse_number(argument, "Type a cell number: %rerun 3"))
        return
    numbers = [parse_number(word, "Type the numbers of cells: %rerun only 3 5") for word in words[1:]]
    if not numbers:
        raise CommandError("Type the numbers of cells: %rerun only 3 5")
    actions.turn.run_only([number for number in numbers if number is not None])


@command("snapshot", "Keep the variables of Python and R, or restore them", usage="[restore]")
def _snapshot(actions: CommandActions, argument: str) -> None:
    if argument not in ("", "restore"):
        raise CommandError("Type %snapshot, or %snapshot restore.")
    (actions.snapshot.restore if argument else actions.snapshot.save)()


@command("offer", "Ask to run the code blocks in the text of the last reply")
def _offer(actions: CommandActions, _: str) -> None:
    actions.turn.run_blocks()


@command("files", "List the files that cells changed, or only cell N", usage="[N]")
def _files(actions: CommandActions, argument: str) -> None:
    actions.files.show(parse_number(argument, "Type a cell number: %files 3"))


@command("restore", "Restore files as they were before cell N; undo reverts that", usage="[N|all|undo]")
def _restore(actions: CommandActions, argument: str) -> None:
    if argument not in ("", "all", "undo"):
        argument = str(parse_number(argument, "Type a cell number, “all” or “undo”: %restore 3"))
    actions.files.restore(argument)


@command("reset", "Same as %new (Open Interpreter's name)")
def _reset(actions: CommandActions, _: str) -> None:
    actions.start_conversation()


@command("restart", "Restart the interpreters; the conversation stays")
def _restart(actions: CommandActions, _: str) -> None:
    actions.languages.restart()


@command("export", "Export as markdown, notebook, html, script or json", usage="[FORMAT] [PATH]")
def _export(actions: CommandActions, argument: str) -> None:
    name, path = split_word(argument)
    if not name:
        raise CommandError(
            "Name a format or a file: %export markdown, notebook, html, script, json or a.html."
        )
    actions.documents.export(name, path)


@command("markdown", "Export as Markdown", usage="[PATH]")
def _markdown(actions: CommandActions, argument: str) -> None:
    actions.documents.export("markdown", argument)


@command("jupyter", "Export as a Jupyter notebook", usage="[PATH]")
def _jupyter(actions: CommandActions, argument: str) -> None:
    actions.documents.export("notebook", argument)


@command("html", "Export as a web page", usage="[PATH]")
def _html(actions: CommandActions, argument: str) -> None:
    actions.documents.export("html", argument)


@command("script", "Export the code that ran, one file per language", usage="[PATH]")
def _script(actions: CommandActions, argument: str) -> None:
    actions.documents.export("script", argument)


@command("save_message", "Save the messages in Open Interpreter's format", usage="[PATH]")
def _save_message(actions: CommandActions, argument: str) -> None:
    actions.documents.export("json", argument or _MESSAGES)


@command("load_message", "Load messages in Open Interpreter's format", usage="[PATH]")
def _load_message(actions: CommandActions, argument: str) -> None:
    actions.documents.load(argument or _MESSAGES)


@command("tokens", "Show tokens and cost, and what PROMPT would add", usage="[PROMPT]")
def _tokens(actions: CommandActions, argument: str) -> None:
    actions.report_tokens(argument)


@command("compact", "Summarise older messages to save tokens; undo reverts it", usage="[undo]")
def _compact(actions: CommandActions, argument: str) -> None:
    if argument not in ("", "undo"):
        raise CommandError("Type %compact, or %compact undo.")
    actions.compact(undo=argument == "undo")


@command("info", "Show versions, languages and folders")
def _info(actions: CommandActions, _: str) -> None:
    actions.show_info()


@command("doctor", "Check the installation, the machine and the terminal")
def _doctor(actions: CommandActions, _: str) -> None:
    actions.screens.open_doctor()


@command("skills", "List skills; save the code of this conversation as one", usage="[save NAME]")
def _skills(actions: CommandActions, argument: str) -> None:
    word, name = split_word(argument)
    if not word:
        actions.skills.list()
    elif word in ("trust", "save") and name:
        (actions.skills.trust if word == "trust" else actions.skills.save)(name)
    else:
        raise CommandError("Type %skills, %skills trust NAME or %skills save NAME.")


@command(
    "mcp",
    "List, test, add or remove MCP servers; use their prompts",
    usage="[test|add|remove|login|logout|prompt|trust NAME]",
)
def _mcp(actions: CommandActions, argument: str) -> None:
    action, rest = split_word(argument)
    name, rest = split_word(rest)
    actions.manage_servers(action, name, rest)


@command("skill", "Same as %skills", usage="[save NAME]")
def _skill(actions: CommandActions, argument: str) -> None:
    _skills(actions, argument)


@command(
    "languages",
    "List languages and how to install more; trust a custom one",
    usage="[trust NAME]",
)
def _languages(actions: CommandActions, argument: str) -> None:
    word, name = split_word(argument)
    if not word:
        actions.languages.list()
    elif word == "trust" and name:
        actions.languages.trust(name)
    else:
        raise CommandError("Type %languages, or %languages trust NAME.")


@command("verbose", "Log requests, runs, times and errors, or stop logging them", usage="[on|off]")
def _verbose(actions: CommandActions, argument: str) -> None:
    actions.log.switch(on_off(argument), words=False)


@command("debug", "Like %verbose, with the text sent to and from the model", usage="[on|off]")
def _debug(actions: CommandActions, argument: str) -> None:
    actions.log.switch(on_off(argument), words=True)


@command("log", "Read the log")
def _log(actions: CommandActions, _: str) -> None:
    actions.log.open()


@command("focus", "Use the running program's terminal; else read the last output", keys="ctrl+o")
def _focus(actions: CommandActions, _: str) -> None:
    actions.reading.use_terminal()


@command("variables", "List variables; enter inserts a name in the prompt", usage="[TEXT]", keys="f4")
def _variables(actions: CommandActions, argument: str) -> None:
    actions.data.open_variables(argument)


@command("sidebar", "Show or hide variables, changed files and cost", usage="[on|off]", keys="ctrl+b")
def _sidebar(actions: CommandActions, argument: str) -> None:
    actions.display.switch_sidebar(on_off(argument))


@command("table", "Open a data frame, or a CSV, Parquet, Excel or SQLite file", usage="NAME|FILE")
def _table(actions: CommandActions, argument: str) -> None:
    if not argument:
        raise CommandError("Type the name of a variable or a file: %table df")
    actions.data.open_table(argument)


@command("history", "Search your messages in all conversations", usage="[TEXT]", keys="ctrl+s")
def _history(actions: CommandActions, argument: str) -> None:
    actions.reading.search_history(argument)


@command("mouse", "Turn mouse support on or off", usage="[on|off]")
def _mouse(actions: CommandActions, argument: str) -> None:
    actions.display.switch_mouse(on_off(argument))


@command("blocks", "Move to the conversation: navigate by block, copy, fold", keys="ctrl+up")
def _blocks(actions: CommandActions, _: str) -> None:
    actions.reading.focus_conversation()


@command("find", "Find text; find and replace while editing", usage="[TEXT]", keys="ctrl+f")
def _find(actions: CommandActions, argument: str) -> None:
    actions.reading.find(argument)


@command("output", "Read the last output in full, or the output of cell N", usage="[N]")
def _output(actions: CommandActions, argument: str) -> None:
    actions.reading.read_output(parse_number(argument, "Type a cell number: %output 3"))


@command("copy", "Copy the last code", keys="ctrl+y")
def _copy(actions: CommandActions, _: str) -> None:
    actions.reading.copy_code()


@command("prompt", "Move to the prompt", keys="ctrl+down")
def _prompt(actions: CommandActions, _: str) -> None:
    actions.reading.focus_prompt()


@command("palette", "Search all commands", keys="ctrl+p")
def _palette(actions: CommandActions, _: str) -> None:
    actions.screens.open_palette()


@command("print", "Quit, and print the conversation in the terminal")
def _print(actions: CommandActions, _: str) -> None:
    actions.leave_printing()


@command("quit", "Quit; the conversation is saved", keys="ctrl+q")
def _quit(actions: CommandActions, _: str) -> None:
    actions.leave()
