"""What ``convparse`` raises: only for calls that cannot be carried out. Trouble in the input is data, in ``dropped``."""


class ConvparseError(Exception):
    """The base of all errors of this library. The message says what to do."""


class UnknownSource(ConvparseError):  # noqa: N818 - names what it is about
    """No source of that name, or no source that knows this file."""


class SourceChanged(ConvparseError):  # noqa: N818 - a fact about the file
    """The file is no longer the one that was parsed."""


class ContentDropped(ConvparseError):  # noqa: N818 - a fact about the result
    """Raised by ``raise_if``: the result has drops of a kind that the caller does not accept."""
