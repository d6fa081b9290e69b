"""Reads the messages of the model aloud, if the profile says so."""

from oi_tui.engine.events import Event, MessageRecorded
from oi_tui.engine.speech import Voice
from oi_tui.messages import Message
from oi_tui.workspace import Workspace


class Narrator:
    """Speaks each message of the model once it is complete."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._voice = Voice()

    def follow(self, event: Event) -> None:
        """Begin to speak a message of the model."""
        match event:
            case MessageRecorded(Message(role="assistant", type="message", content=words)):
                if self._workspace.profile.speak_messages:
                    self._voice.say(words)

    def stop_speaking(self) -> None:
        """Stop speaking at once."""
        self._voice.stop()
