"""A text that arrives in pieces, and how far it has been read."""


class Cursor:
    """The text from just before `at` on; what lies further back is forgotten."""

    def __init__(self) -> None:
        self.text = ""
        self.at = 0
        #: Nothing more comes: what is undecided must be decided now.
        self.final = False

    def feed(self, text: str) -> int:
        """Add text that has arrived. Returns how many characters were forgotten."""
        # One character stays in sight, for what depends on the one before.
        cut_length = max(self.at - 1, 0)
        self.text = self.text[cut_length:] + text
        self.at -= cut_length
        return cut_length

    def restart(self, text: str) -> None:
        """Read something else from here on."""
        self.text, self.at = text, 0

    @property
    def rest(self) -> str:
        """The text that has arrived and is not yet read."""
        return self.text[self.at :]

    @property
    def exhausted(self) -> bool:
        """Nothing is left to read, for now."""
        return self.at >= len(self.text)

    def line(self) -> str | None:
        """Return the rest of the current line with its line break; None if some of it is still to come."""
        newline = self.text.find("\n", self.at)
        if newline >= 0:
            return self.text[self.at : newline + 1]
        return self.rest if self.final else None
