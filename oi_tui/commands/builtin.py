"""Every command, in the order in which help lists them."""

from oi_tui.commands.registry import CommandError, CommandTarget, command, number, on_off, parted

#: Where Open Interpreter saves messages, and loads them from, when no path is given.
_MESSAGES = "messages.json"


@command("help", "Keys and commands", keys="f1", shown=True)
def _help(desk: CommandTarget, _: str) -> None:
    desk.open_help()


@command("keys", "List the names of all that has a key")
def _keys(desk: CommandTarget, _: str) -> None:
    desk.list_keys()


@command("new", "Start a new conversation", keys="ctrl+n")
def _new(desk: CommandTarget, _: str) -> None:
    desk.start_conversation()


@command("conversations", "Find and open an earlier conversation", keys="ctrl+r", shown=True)
def _conversations(desk: CommandTarget, _: str) -> None:
    desk.open_navigator()


@command(
    "profile", "Change the settings, or go on with the profile named", usage="[NAME]", keys="f2", shown=True
)
def _profile(desk: CommandTarget, argument: str) -> None:
    desk.open_profile(argument)


@command("trust", "Read the settings that this folder brings along, and use them or not")
def _trust(desk: CommandTarget, _: str) -> None:
    desk.trust_folder()


@command("model", "Choose the model, or switch to the one named", usage="[NAME]", keys="ctrl+l")
def _model(desk: CommandTarget, argument: str) -> None:
    desk.open_models(argument)


@command("theme", "Choose the colours, or take those named", usage="[NAME]")
def _theme(desk: CommandTarget, argument: str) -> None:
    desk.open_themes(argument)


@command("stop", "Stop the reply, the question or the run", keys="escape")
def _stop(desk: CommandTarget, _: str) -> None:
    desk.stop()


@command("continue", "Let the model go on from here")
def _continue(desk: CommandTarget, _: str) -> None:
    desk.go_on()


@command("run", "Run code of your own; the model does not see it", usage="LANGUAGE CODE")
def _run(desk: CommandTarget, argument: str) -> None:
    language, code = parted(argument)
    if not code:
        raise CommandError("Say what to run: %run python print(1)")
    desk.run_by_hand(language, code)


@command("auto_run", "Run code without asking, or ask again", usage="[on|off]")
def _auto_run(desk: CommandTarget, argument: str) -> None:
    desk.switch_auto_run(on_off(argument))


@command(
    "sandbox", "Hold programs in this folder, or let them out; the languages begin anew", usage="[on|off]"
)
def _sandbox(desk: CommandTarget, argument: str) -> None:
    desk.switch_sandbox(on_off(argument))


@command("permissions", "What runs without a question; take it back")
def _permissions(desk: CommandTarget, _: str) -> None:
    desk.open_permissions()


@command("undo", "Take back your last message and what followed it")
def _undo(desk: CommandTarget, _: str) -> None:
    desk.undo_message()


@command("redo", "Bring back what was taken back")
def _redo(desk: CommandTarget, _: str) -> None:
    desk.redo_message()


@command("rewind", "Go back to before your message N; without N, choose it", usage="[N]")
def _rewind(desk: CommandTarget, argument: str) -> None:
    desk.rewind(number(argument, "Say the number of your message: %rewind 2"))


@command("fork", "Go on in a copy; the conversation so far stays as it is")
def _fork(desk: CommandTarget, _: str) -> None:
    desk.fork()


@command("rerun", "Run the cells that ran before again, up to cell N; each is asked for", usage="[N]")
def _rerun(desk: CommandTarget, argument: str) -> None:
    desk.run_again(number(argument, "Say the number of a cell: %rerun 3"))


@command("files", "Which files the cells changed, or cell N", usage="[N]")
def _files(desk: CommandTarget, argument: str) -> None:
    desk.tell_files(number(argument, "Say the number of a cell: %files 3"))


@command("restore", "Put files back as they were before cell N; undo takes that back", usage="[N|all|undo]")
def _restore(desk: CommandTarget, argument: str) -> None:
    if argument not in ("", "all", "undo"):
        argument = str(number(argument, "Say the number of a cell, “all” or “undo”: %restore 3"))
    desk.restore_files(argument)


@command("reset", "The same as %new, by its old name")
def _reset(desk: CommandTarget, _: str) -> None:
    desk.start_conversation()


@command("restart", "Let the languages forget, and keep the conversation")
def _restart(desk: CommandTarget, _: str) -> None:
    desk.reset_languages()


@command(
    "export", "Write the conversation as markdown, notebook, html, script or json", usage="[FORMAT] [PATH]"
)
def _export(desk: CommandTarget, argument: str) -> None:
    name, path = parted(argument)
    if not name:
        raise CommandError("Say as what: %export markdown, notebook, html, script, json or a.html.")
    desk.export(name, path)


@command("markdown", "Write the conversation as Markdown", usage="[PATH]")
def _markdown(desk: CommandTarget, argument: str) -> None:
    desk.export("markdown", argument)


@command("jupyter", "Write the conversation as a Jupyter notebook", usage="[PATH]")
def _jupyter(desk: CommandTarget, argument: str) -> None:
    desk.export("notebook", argument)


@command("html", "Write the conversation as a page for a browser", usage="[PATH]")
def _html(desk: CommandTarget, argument: str) -> None:
    desk.export("html", argument)


@command("script", "Write the code that ran, a file for each language", usage="[PATH]")
def _script(desk: CommandTarget, argument: str) -> None:
    desk.export("script", argument)


@command("save_message", "Write the messages as Open Interpreter stores them", usage="[PATH]")
def _save_message(desk: CommandTarget, argument: str) -> None:
    desk.export("json", argument or _MESSAGES)


@command("load_message", "Begin a conversation with messages of Open Interpreter", usage="[PATH]")
def _load_message(desk: CommandTarget, argument: str) -> None:
    desk.load_messages(argument or _MESSAGES)


@command("tokens", "What the conversation takes and costs, and what PROMPT would add", usage="[PROMPT]")
def _tokens(desk: CommandTarget, argument: str) -> None:
    desk.tell_tokens(argument)


@command("compact", "Have the model summarise older history; undo takes it back", usage="[undo]")
def _compact(desk: CommandTarget, argument: str) -> None:
    if argument not in ("", "undo"):
        raise CommandError("Say %compact, or %compact undo.")
    desk.compact(undo=argument == "undo")


@command("info", "What runs here: versions, languages, folders")
def _info(desk: CommandTarget, _: str) -> None:
    desk.tell_info()


@command("doctor", "What is wrong with this machine or terminal, and how to put it right")
def _doctor(desk: CommandTarget, _: str) -> None:
    desk.examine()


@command(
    "languages",
    "The languages here and how to get others; read one of your own, and let it run",
    usage="[trust NAME]",
)
def _languages(desk: CommandTarget, argument: str) -> None:
    word, name = parted(argument)
    if not word:
        desk.tell_languages()
    elif word == "trust" and name:
        desk.trust_language(name)
    else:
        raise CommandError("Say %languages, or %languages trust NAME.")


@command("verbose", "Show what goes on: requests, runs, times and faults; or hide it", usage="[on|off]")
def _verbose(desk: CommandTarget, argument: str) -> None:
    desk.switch_verbose(on_off(argument), words=False)


@command("debug", "As %verbose, with what goes to the model and comes back", usage="[on|off]")
def _debug(desk: CommandTarget, argument: str) -> None:
    desk.switch_verbose(on_off(argument), words=True)


@command("log", "Read the log of what went on")
def _log(desk: CommandTarget, _: str) -> None:
    desk.open_log()


@command("focus", "Use the running program's terminal; ctrl+] comes back", keys="ctrl+o")
def _focus(desk: CommandTarget, _: str) -> None:
    desk.use_terminal()


@command("variables", "What the languages remember; enter names one in the prompt", usage="[TEXT]", keys="f4")
def _variables(desk: CommandTarget, argument: str) -> None:
    desk.open_variables(argument)


@command("history", "Search what you said in all conversations", usage="[TEXT]", keys="ctrl+s")
def _history(desk: CommandTarget, argument: str) -> None:
    desk.search_history(argument)


@command("mouse", "Use the mouse, or leave it to the terminal", usage="[on|off]")
def _mouse(desk: CommandTarget, argument: str) -> None:
    desk.switch_mouse(on_off(argument))


@command("blocks", "Go to the conversation: move by block, copy, fold", keys="ctrl+up")
def _blocks(desk: CommandTarget, _: str) -> None:
    desk.focus_conversation()


@command("find", "Find words, code or output; find and replace while you edit", usage="[TEXT]", keys="ctrl+f")
def _find(desk: CommandTarget, argument: str) -> None:
    desk.find(argument)


@command("output", "Read all of the last output, or of cell N", usage="[N]")
def _output(desk: CommandTarget, argument: str) -> None:
    desk.read_output(number(argument, "Say the number of a cell: %output 3"))


@command("prompt", "Go back to the prompt", keys="ctrl+down")
def _prompt(desk: CommandTarget, _: str) -> None:
    desk.focus_prompt()


@command("palette", "Search all commands", keys="ctrl+p")
def _palette(desk: CommandTarget, _: str) -> None:
    desk.open_palette()


@command("print", "Leave, and print the conversation in the terminal")
def _print(desk: CommandTarget, _: str) -> None:
    desk.leave_printing()


@command("quit", "Leave; the conversation is saved", keys="ctrl+q")
def _quit(desk: CommandTarget, _: str) -> None:
    desk.leave()
