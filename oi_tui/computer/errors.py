"""The errors that the computer object raises."""


class ComputerError(Exception):
    """Something that cannot be done here; the text says why, and what to change."""


class Paused(ComputerError):  # noqa: N818 -- it is no error of the code's
    """The person took over: the mouse was moved by hand."""
