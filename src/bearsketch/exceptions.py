"""Every error this package raises on purpose, with the exit code the command line gives it."""

from __future__ import annotations

from bearsketch.wording import Render, for_python


class BearError(Exception):
    """Base of all errors raised on purpose.

    Parameters
    ----------
    message : str
        What is wrong, what is allowed, what was got; one sentence. Options stand in braces, see
        :mod:`bearsketch.wording`.
    code : str, optional
        Stable reason code such as ``LSV-IDX-RANGE``; part of the public interface.
    hint : str, optional
        What to do about it; one sentence.
    """

    exit_code = 70

    def __init__(self, message: str, *, code: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.hint = hint

    def text(self, render: Render = for_python) -> str:
        """Place, message and hint, with options spelt for the reader."""
        return render(f"{self.message}\n  {self.hint}" if self.hint else self.message)

    def __str__(self) -> str:
        return self.text()


class ParameterError(BearError, ValueError):
    """A parameter or an array is outside what is allowed."""

    exit_code = 2


class WrongTypeError(ParameterError, TypeError):
    """An argument is of another type than what is needed."""


class DataError(BearError, ValueError):
    """The input data breaks its format, or does not fit the learner."""

    exit_code = 3


class ParseError(DataError):
    """A line or record of a file breaks the grammar of its format.

    Parameters
    ----------
    message, code, hint
        As in :class:`BearError`.
    source : str
        Name of the file, ``<stdin>`` or the URL.
    line, column : int
        One-based place in the decoded stream; 0 when it does not apply.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str = "",
        hint: str = "",
        source: str = "",
        line: int = 0,
        column: int = 0,
    ) -> None:
        super().__init__(message, code=code, hint=hint)
        self.source = source
        self.line = line
        self.column = column

    def text(self, render: Render = for_python) -> str:
        """Place, message and hint, with options spelt for the reader."""
        place = ":".join(str(part) for part in (self.source, self.line, self.column) if part)
        text = super().text(render)
        return f"{place}: {text}" if place else text


class SourceError(BearError, OSError):
    """An input cannot be opened or read, or an output cannot be written."""

    exit_code = 4


class ModelFileError(BearError, ValueError):
    """A model file is damaged, foreign, or of an unknown version."""

    exit_code = 5


class IncompatibleError(BearError, ValueError):
    """Two models, or a model and its data, do not belong together."""

    exit_code = 5


class LimitError(BearError, ValueError):
    """A stated resource limit would be passed."""

    exit_code = 6


class DivergedError(BearError, ArithmeticError):
    """Training left the finite numbers; the model keeps its last good state."""

    exit_code = 7


class DistributedError(BearError, RuntimeError):
    """Workers are lost, silent, or do not agree; no model was written."""

    exit_code = 8
