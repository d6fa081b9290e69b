"""The settings of the texts that a model gets."""

from dataclasses import dataclass

from oi_tui.engine.settings.setting import setting


def _require_content(text: str) -> str | None:
    return None if "{content}" in text else "text with {content} in it"


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class PromptSettings:
    """Texts of a request besides the messages."""

    # ---- Instructions
    custom_instructions: str = setting(
        "",
        "What the model should know about you and your work; added to the system message.",
        key="custom_instructions",
        section="Instructions",
        flags=("-ci",),
        long=True,
    )
    system_message: str = setting(
        "You are oi-tui, an assistant that gets things done by writing code which runs on the user's own "
        "computer.\n"
        "The user reads and approves each piece of code before it runs. Once approved, it runs with the "
        "user's rights: it can read and write files, use the network and install packages.\n"
        "For a task of several steps, say in a few lines what you plan to do, then do it step by step. Write "
        "short pieces of code, run them, read what they print, and build the next step on it: languages "
        "remember variables, imports and the working directory from one piece to the next.\n"
        "A file that the user names without a folder is in the current working directory. If something "
        "fails, find out why and try another way. Print what you need to see; do not guess results.\n"
        "When the task is done, say what you did and found, in Markdown, without repeating the output.",
        "The start of every request. A description of the languages and the machine follows it.",
        key="system_message",
        section="Instructions",
        flags=("-s", "-sm"),
        long=True,
    )
    execution_instructions: str = setting(
        "To run code on the user's computer, write it in a fenced Markdown block with the language's name "
        "after the opening fence. End your reply after the block: the code is run once the user has approved "
        "it, and you are given its output.",
        "Instructions for models without tool calls on how to write code; false omits them.",
        key="llm.execution_instructions",
        title="Instructions without tools",
        may_be_false=True,
        section="Instructions",
        long=True,
    )
    # ---- Wording
    user_message_template: str = setting(
        "{content}",
        "A template for your last message; {content} stands for what you typed.",
        key="user_message_template",
        title="Message template",
        section="Wording",
        long=True,
        must=_require_content,
    )
    always_apply_user_message_template: bool = setting(
        False,
        "Use the template for all your messages, not only the last one.",
        key="always_apply_user_message_template",
        title="Template for all messages",
        section="Wording",
    )
    code_output_template: str = setting(
        "Output of the code:\n\n{content}\n\nWhat does it mean for the task? What is next, if anything?",
        "A template for output, for models without tool calls; {content} stands for the output.",
        key="code_output_template",
        title="Output template",
        section="Wording",
        long=True,
        must=_require_content,
    )
    empty_code_output_template: str = setting(
        "The code ran and printed nothing. What is next, if anything?",
        "The text that models without tool calls get when there is no output.",
        key="empty_code_output_template",
        title="Text for empty output",
        section="Wording",
        long=True,
    )
    code_output_sender: str = setting(
        "user",
        "The role in which models without tool calls get output.",
        key="code_output_sender",
        title="Role of output",
        section="Wording",
        choices=("user", "assistant"),
    )
    loop_message: str = setting(
        "Go on; you can run code on this computer. When the whole task is done, say exactly “The task is "
        "done.” If it cannot be done, say exactly “The task is impossible.” If you need to know something "
        "from me, say exactly “Please provide more information.” If there is no task, say exactly “Let me "
        "know what you'd like to do next.” Otherwise keep going.",
        "The message that loop sends when the model stopped without one of the loop_breakers.",
        key="loop_message",
        title="Loop: message",
        section="Wording",
        long=True,
    )
    loop_breakers: tuple[str, ...] = setting(
        (
            "The task is done.",
            "The task is impossible.",
            "Let me know what you'd like to do next.",
            "Please provide more information.",
        ),
        "The sentences that end a loop.",
        key="loop_breakers",
        title="Loop: final sentences",
        section="Wording",
        long=True,
    )
