"""Every command, in the order in which help lists them."""

from oi_tui.commands.registry import CommandError, CommandTarget, command, number, on_off, parted

#: Where Open Interpreter saves messages, and loads them from, when no path is given.
_MESSAGES = "messages.json"


@command("help", "Show keys and commands", keys="f1", shown=True)
def _help(desk: CommandTarget, _: str) -> None:
    desk.open_help()


@command("keys", "List all key bindings")
def _keys(desk: CommandTarget, _: str) -> None:
    desk.list_keys()


@command("new", "Start a new conversation", keys="ctrl+n")
def _new(desk: CommandTarget, _: str) -> None:
    desk.start_conversation()


@command("conversations", "Find and open another conversation", keys="ctrl+r", shown=True)
def _conversations(desk: CommandTarget, _: str) -> None:
    desk.open_navigator()


@command("profile", "Edit settings, or switch to profile NAME", usage="[NAME]", keys="f2", shown=True)
def _profile(desk: CommandTarget, argument: str) -> None:
    desk.open_profile(argument)


@command("trust", "Review this folder's settings, and trust them or not")
def _trust(desk: CommandTarget, _: str) -> None:
    desk.trust_folder()


@command("model", "Choose a model, or switch to MODEL", usage="[NAME]", keys="ctrl+l")
def _model(desk: CommandTarget, argument: str) -> None:
    desk.open_models(argument)


@command("theme", "Choose a theme, or switch to THEME", usage="[NAME]")
def _theme(desk: CommandTarget, argument: str) -> None:
    desk.open_themes(argument)


@command("stop", "Stop the reply, the question or the running code", keys="escape")
def _stop(desk: CommandTarget, _: str) -> None:
    desk.stop()


@command("continue", "Let the model continue")
def _continue(desk: CommandTarget, _: str) -> None:
    desk.go_on()


@command("run", "Run your own code; the model does not see it", usage="LANGUAGE CODE")
def _run(desk: CommandTarget, argument: str) -> None:
    language, code = parted(argument)
    if not code:
        raise CommandError("Type a language and code: %run python print(1)")
    desk.run_by_hand(language, code)


@command("auto_run", "Run code without asking, or ask again", usage="[on|off]")
def _auto_run(desk: CommandTarget, argument: str) -> None:
    desk.switch_auto_run(on_off(argument))


@command("sandbox", "Turn the sandbox on or off; interpreters restart", usage="[on|off]")
def _sandbox(desk: CommandTarget, argument: str) -> None:
    desk.switch_sandbox(on_off(argument))


@command("permissions", "Show and revoke auto-approvals")
def _permissions(desk: CommandTarget, _: str) -> None:
    desk.open_permissions()


@command("undo", "Remove your last message and everything after it")
def _undo(desk: CommandTarget, _: str) -> None:
    desk.undo_message()


@command("redo", "Restore what %undo removed")
def _redo(desk: CommandTarget, _: str) -> None:
    desk.redo_message()


@command("rewind", "Go back to before your message N; without N, choose one", usage="[N]")
def _rewind(desk: CommandTarget, argument: str) -> None:
    desk.rewind(number(argument, "Type the number of your message: %rewind 2"))


@command("fork", "Continue in a copy; this conversation stays as it is")
def _fork(desk: CommandTarget, _: str) -> None:
    desk.fork()


@command("rerun", "Run earlier cells again, up to cell N; each needs approval", usage="[N]")
def _rerun(desk: CommandTarget, argument: str) -> None:
    desk.run_again(number(argument, "Type a cell number: %rerun 3"))


@command("files", "List the files that cells changed, or only cell N", usage="[N]")
def _files(desk: CommandTarget, argument: str) -> None:
    desk.tell_files(number(argument, "Type a cell number: %files 3"))


@command("restore", "Restore files as they were before cell N; undo reverts that", usage="[N|all|undo]")
def _restore(desk: CommandTarget, argument: str) -> None:
    if argument not in ("", "all", "undo"):
        argument = str(number(argument, "Type a cell number, “all” or “undo”: %restore 3"))
    desk.restore_files(argument)


@command("reset", "Same as %new (Open Interpreter's name)")
def _reset(desk: CommandTarget, _: str) -> None:
    desk.start_conversation()


@command("restart", "Restart the interpreters; the conversation stays")
def _restart(desk: CommandTarget, _: str) -> None:
    desk.reset_languages()


@command("export", "Export as markdown, notebook, html, script or json", usage="[FORMAT] [PATH]")
def _export(desk: CommandTarget, argument: str) -> None:
    name, path = parted(argument)
    if not name:
        raise CommandError(
            "Name a format or a file: %export markdown, notebook, html, script, json or a.html."
        )
    desk.export(name, path)


@command("markdown", "Export as Markdown", usage="[PATH]")
def _markdown(desk: CommandTarget, argument: str) -> None:
    desk.export("markdown", argument)


@command("jupyter", "Export as a Jupyter notebook", usage="[PATH]")
def _jupyter(desk: CommandTarget, argument: str) -> None:
    desk.export("notebook", argument)


@command("html", "Export as a web page", usage="[PATH]")
def _html(desk: CommandTarget, argument: str) -> None:
    desk.export("html", argument)


@command("script", "Export the code that ran, one file per language", usage="[PATH]")
def _script(desk: CommandTarget, argument: str) -> None:
    desk.export("script", argument)


@command("save_message", "Save the messages in Open Interpreter's format", usage="[PATH]")
def _save_message(desk: CommandTarget, argument: str) -> None:
    desk.export("json", argument or _MESSAGES)


@command("load_message", "Load messages in Open Interpreter's format", usage="[PATH]")
def _load_message(desk: CommandTarget, argument: str) -> None:
    desk.load_messages(argument or _MESSAGES)


@command("tokens", "Show tokens and cost, and what PROMPT would add", usage="[PROMPT]")
def _tokens(desk: CommandTarget, argument: str) -> None:
    desk.tell_tokens(argument)


@command("compact", "Summarise older messages to save tokens; undo reverts it", usage="[undo]")
def _compact(desk: CommandTarget, argument: str) -> None:
    if argument not in ("", "undo"):
        raise CommandError("Type %compact, or %compact undo.")
    desk.compact(undo=argument == "undo")


@command("info", "Show versions, languages and folders")
def _info(desk: CommandTarget, _: str) -> None:
    desk.tell_info()


@command("doctor", "Check the installation, the machine and the terminal")
def _doctor(desk: CommandTarget, _: str) -> None:
    desk.examine()


@command(
    "languages",
    "List languages and how to install more; review and trust a custom one",
    usage="[trust NAME]",
)
def _languages(desk: CommandTarget, argument: str) -> None:
    word, name = parted(argument)
    if not word:
        desk.tell_languages()
    elif word == "trust" and name:
        desk.trust_language(name)
    else:
        raise CommandError("Type %languages, or %languages trust NAME.")


@command("verbose", "Log requests, runs, times and errors, or stop logging them", usage="[on|off]")
def _verbose(desk: CommandTarget, argument: str) -> None:
    desk.switch_verbose(on_off(argument), words=False)


@command("debug", "Like %verbose, with the text sent to and from the model", usage="[on|off]")
def _debug(desk: CommandTarget, argument: str) -> None:
    desk.switch_verbose(on_off(argument), words=True)


@command("log", "Read the log")
def _log(desk: CommandTarget, _: str) -> None:
    desk.open_log()


@command("focus", "Use the running program's terminal; ctrl+] returns", keys="ctrl+o")
def _focus(desk: CommandTarget, _: str) -> None:
    desk.use_terminal()


@command("variables", "List variables; enter inserts a name in the prompt", usage="[TEXT]", keys="f4")
def _variables(desk: CommandTarget, argument: str) -> None:
    desk.open_variables(argument)


@command("history", "Search your messages in all conversations", usage="[TEXT]", keys="ctrl+s")
def _history(desk: CommandTarget, argument: str) -> None:
    desk.search_history(argument)


@command("mouse", "Turn mouse support on or off", usage="[on|off]")
def _mouse(desk: CommandTarget, argument: str) -> None:
    desk.switch_mouse(on_off(argument))


@command("blocks", "Move to the conversation: navigate by block, copy, fold", keys="ctrl+up")
def _blocks(desk: CommandTarget, _: str) -> None:
    desk.focus_conversation()


@command("find", "Find text; find and replace while editing", usage="[TEXT]", keys="ctrl+f")
def _find(desk: CommandTarget, argument: str) -> None:
    desk.find(argument)


@command("output", "Read the last output in full, or the output of cell N", usage="[N]")
def _output(desk: CommandTarget, argument: str) -> None:
    desk.read_output(number(argument, "Type a cell number: %output 3"))


@command("prompt", "Move to the prompt", keys="ctrl+down")
def _prompt(desk: CommandTarget, _: str) -> None:
    desk.focus_prompt()


@command("palette", "Search all commands", keys="ctrl+p")
def _palette(desk: CommandTarget, _: str) -> None:
    desk.open_palette()


@command("print", "Quit, and print the conversation in the terminal")
def _print(desk: CommandTarget, _: str) -> None:
    desk.leave_printing()


@command("quit", "Quit; the conversation is saved", keys="ctrl+q")
def _quit(desk: CommandTarget, _: str) -> None:
    desk.leave()
