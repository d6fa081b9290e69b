"""The exceptions of IPython."""


class IPythonCoreError(Exception):
    """The base of the others."""


class TryNext(IPythonCoreError):
    """Try the next function."""


class UsageError(IPythonCoreError):
    """A magic was called wrongly."""


class StdinNotImplementedError(IPythonCoreError, NotImplementedError):
    """Nobody can be asked."""


class InputRejected(Exception):
    """The cell is not run."""
