"""Chooses the script that answers a request."""

from oi_tui.demo.files import FILES
from oi_tui.demo.lessons import LESSONS
from oi_tui.demo.machine import MACHINE
from oi_tui.demo.plots import PLOTS
from oi_tui.demo.talk import CodeToRun, Reply, Say, Talk, TaskStep
from oi_tui.demo.task import Task, quote_lines

#: Every task, in the order in which they are offered and tried.
TASKS: tuple[Task, ...] = (*FILES, *PLOTS, *LESSONS, *MACHINE)
#: A turn stops after this many steps.
MOST_STEPS = 8
LABEL = "*Scripted demo model, not an AI.*"


def answer(talk: Talk) -> Reply:
    """Return the demo model's next reply."""
    task = next((task for task in TASKS if task.pattern.search(talk.request)), None)
    if task is None:
        return [Say(introduce())]
    step = talk.last
    if step is None:
        return _make_label(task.reply(talk))
    if len(talk.steps) >= MOST_STEPS:
        return [Say("This script has run out of steps, so it ends here. Ask me for something else.")]
    match step.outcome:
        case "rejected":
            return _answer_rejection(task, talk, step)
        case "interrupted":
            return [Say(_answer_interruption(step))]
    if any(earlier.outcome == "rejected" for earlier in talk.steps):
        return [Say(_describe_edit(step) + _suggest_other_way(step))]
    reply = list(task.reply(talk))
    if step.edited:
        reply.insert(0, Say(_describe_edit(step)))
    return reply


def introduce() -> str:
    """Introduce the demo model, and list what can be asked of it."""
    rows = "\n".join(f"- `{task.phrase}` {task.does}" for task in TASKS)
    return (
        "I am the **demo model** of oi-tui: a script, not an AI. I cannot understand you; I only know "
        "these phrases, and for each of them I write code that really runs on your machine once you "
        f"approve it:\n\n{rows}\n\n"
        "At every piece of code you can run it, edit it, or reject it and say why. "
        "For real work choose a real model: ctrl+l lists them."
    )


def _make_label(reply: Reply) -> Reply:
    first, *rest = reply
    if isinstance(first, Say):
        return [Say(f"{LABEL} {first.text}"), *rest]
    return [first, Say(f"{LABEL} "), *rest]


def _answer_rejection(task: Task, talk: Talk, step: TaskStep) -> Reply:
    answer = f"You would rather not, because: “{step.reason}”." if step.reason else "You would rather not."
    if sum(item.outcome == "rejected" for item in talk.steps) > 1:
        return [Say(f"{answer} Then I leave it there; nothing was run. Ask me for something else.")]
    language, code = task.other_way(talk)
    return [
        Say(f"{answer} Nothing was run. Here is another way, in {language}:\n\n"),
        CodeToRun(language, code),
    ]


def _answer_interruption(step: TaskStep) -> str:
    return (
        "You stopped it. This is what it had printed until then:\n\n"
        f"{quote_lines(step.output)}\n\nWhat it had worked out is still in memory."
    )


def _suggest_other_way(step: TaskStep) -> str:
    if step.error:
        return f"The other way failed too, with `{step.error}`. That is where this script ends."
    return f"The other way worked. It begins with:\n\n{quote_lines(step.output)}"


def _describe_edit(step: TaskStep) -> str:
    return "You edited my code, so I go by what your version printed. " if step.edited else ""
