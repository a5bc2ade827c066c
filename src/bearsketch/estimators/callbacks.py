"""The callbacks of scikit-learn 1.9; before that release, the same calls do nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from bearsketch.training.session import Session, Sink

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:
    Method = TypeVar("Method", bound=Callable[..., Any])

    class _NoContext:
        """A task without callbacks."""

        def subcontext(self, **kwargs: Any) -> _NoContext:
            return self

        def call_on_fit_task_begin(self, **kwargs: Any) -> _NoContext:
            return self

        def call_on_fit_task_end(self, **kwargs: Any) -> bool:
            return False

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in for scikit-learn's class of that name."""

        def _init_callback_context(self, **kwargs: Any) -> _NoContext:
            return _NoContext()

    def with_callbacks(method: Method) -> Method:
        """Leave a method as it is."""
        return method


__all__ = ["CallbackSupportMixin", "Tasks", "with_callbacks"]

# A task of a stream is this many examples: scikit-learn keeps a record of every task, so one per
# batch would let memory grow with the stream.
TASK_EXAMPLES = 65_536


class Tasks(Sink):
    """The fit of an estimator as a tree of tasks: fit, its passes, their blocks of examples.

    Parameters
    ----------
    estimator : estimator
        With scikit-learn's CallbackSupportMixin.
    n_blocks : int or None
        Blocks in a pass; None when it is not known, as for a stream.
    X, y, sample_weight
        The training data where it is in memory, handed to callbacks that score on it.
    """

    def __init__(
        self,
        estimator: Any,
        n_blocks: int | None,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
    ) -> None:
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        self._about = {"estimator": estimator, "X": X, "y": y, "metadata": metadata}
        self._n_blocks = n_blocks
        self._root = estimator._init_callback_context(max_subtasks=estimator.passes)
        self._block: Any = None
        self._since = 0
        self._begin(self._root)

    def pass_begun(self, session: Session) -> None:
        """Begin the task of a pass."""
        self._pass = self._root.subcontext(task_name="pass", max_subtasks=self._n_blocks)
        self._begin(self._pass)

    def reading(self, session: Session) -> None:
        """Begin a block of examples, unless one is open."""
        if self._block is None:
            self._block = self._pass.subcontext(task_name="examples")
            self._begin(self._block)
            self._since = session.examples

    def learned(self, session: Session) -> bool | None:
        """End the block, once it is large enough."""
        least = 1 if self._n_blocks is not None else TASK_EXAMPLES
        if session.examples - self._since >= least:
            block, self._block = self._block, None
            return self._end(block)
        return False

    def pass_read(self, session: Session) -> None:
        """End what block there is."""
        if self._block is not None:
            block, self._block = self._block, None
            self._end(block)

    def pass_ended(self, session: Session) -> bool | None:
        """End the task of the pass."""
        return self._end(self._pass)

    def ended(self, session: Session) -> None:
        """End the task of the fit."""
        self._end(self._root)

    def _begin(self, task: Any) -> None:
        task.call_on_fit_task_begin(**self._about)

    def _end(self, task: Any) -> bool:
        # Copying an estimator copies its model, so nothing needs to be handed over by name.
        return bool(task.call_on_fit_task_end(**self._about, reconstruction_attributes={}))
