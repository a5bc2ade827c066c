"""The learner: checks what comes in, drives the compiled core, reads out what it found."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from bearsketch import _core, model_file
from bearsketch.batch import Batch, Places
from bearsketch.evidence.adjust import set_aside
from bearsketch.evidence.places import pack_places
from bearsketch.evidence.summary import Evidence, Table, summarise
from bearsketch.exceptions import (
    IncompatibleError,
    LimitError,
    ParameterError,
    WrongTypeError,
)
from bearsketch.keys import BASES, IUPAC_LETTERS, key_name, parse_naming
from bearsketch.learners import state
from bearsketch.learners.config import Config
from bearsketch.learners.faults import core_errors, naming_hint
from bearsketch.learners.labels import Label, Labels
from bearsketch.learners.selected import (
    Selected,
    classes_of,
    second_names,
    shown_names,
    sizes_of,
    spoken_for,
)
from bearsketch.metrics import class_numbers
from bearsketch.scaling import MOST_SIZES, Scaling, combine
from bearsketch.sizes import Sizes

_NO_NAMES = (None, None)
MOST_REASONS = 1000
_SCALED_ROWS = 256  # that are scaled at a time


class Progress(NamedTuple):
    """What one call of :meth:`Learner.learn` saw, each example predicted before it was learned.

    ``loss`` is the weighted mean; ``margins`` has shape (n_examples, n_weights).
    """

    examples: int
    loss: float
    weight: float
    margins: npt.NDArray[np.float64]


class Calibration(NamedTuple):
    """A map learned from ``examples`` predictions: ``slope`` times the margin, plus ``offset``.

    Of more than two classes all margins are multiplied by the slope, one over the temperature.
    """

    examples: int
    slope: float
    offset: float


class Part(NamedTuple):
    """What one feature of an example adds to its margin: weight times value.

    ``proven`` says whether it is among :meth:`Learner.proven`; None where nothing was tested.
    """

    name: str
    part: float
    proven: bool | None = None


class Explanation(NamedTuple):
    """Why an example is predicted ``label``: margin = intercept + parts + rest.

    The label is a number where numbers are predicted.
    """

    label: Any
    margin: float
    intercept: float
    parts: list[Part]
    rest: float


class Learner:
    """A streaming learner, made by :func:`bearsketch.make_learner` or :func:`bearsketch.load`.

    Attributes
    ----------
    config : Config
        Its parts and numbers, all decided.
    labels : Labels
        Labels of the data and their class numbers.
    naming : str
        How the keys it has seen came about, see :mod:`bearsketch.keys`.
    run : dict
        What the model file remembers of the run that made it: anything JSON takes, 256 KiB at
        most. :class:`bearsketch.training.session.Session` enters the data, the counts, how they
        were read and the learning curve.
    scaling : Scaling or None
        Columns of numbers that it learns at mean 0 and size 1, see
        :func:`bearsketch.training.scaling.find_scaling`. What it is given and what it tells,
        weights and intercept, are of the values as they are.
    """

    def __init__(self, config: Config, labels: Labels) -> None:
        self.config = config
        self.labels = labels
        self.naming: str | None = None
        self.run: dict[str, Any] = {}
        self.scaling: Scaling | None = None
        self.sources: list[str] = []
        self._shared = False
        self._core = _make_core(config)

    def learn(self, batch: Batch) -> Progress:
        """Learn the examples of a batch, in order, in minibatches of ``config.batch_size``.

        Parameters
        ----------
        batch : Batch
            With labels. A last minibatch may be short, so feed multiples of ``batch_size`` where
            the cut into batches must not matter.

        Returns
        -------
        Progress

        Raises
        ------
        DivergedError
            When a minibatch would leave the finite numbers; the state before it is kept.

        Examples
        --------
        >>> from bearsketch import make_learner
        >>> learner = make_learner(k=2, memory="1KiB")
        >>> learner.learn(Batch([0, 1, 2], [3, 4], [1.0, 1.0], labels=[1, 0])).examples
        2
        """
        _check_batch(batch)
        if batch.labels is None:
            raise ParameterError("labels must be given to learn, got a batch without")
        progress = self.learn_numbers(batch, self.labels.encode(batch.labels))
        self.labels.met(batch.labels)
        return progress

    def learn_numbers(self, batch: Batch, labels: npt.NDArray[np.float64]) -> Progress:
        """Learn a batch whose labels are class numbers (or targets) already."""
        self._check_kin(batch)
        self.check_learns()
        batch = self._adjusted(batch)
        before, told = self._core.counters.batches, []
        try:
            with core_errors(self.sizes.model_bytes):
                places = self._places(batch.places)
                for rows, part in self._scaled(batch, MOST_SIZES):
                    marks = (None if m is None else m[rows] for m in (batch.strata, places))
                    told.append(
                        self._core.learn(
                            *_entries(part),
                            labels[rows],
                            part.weights,
                            *(part.names or _NO_NAMES),
                            *marks,
                        )
                    )
        finally:
            # Minibatches before one that diverged stay learned, and so do their keys.
            if self._core.counters.batches > before:
                self.naming = batch.naming
        losses, weights, margins = zip(*told, strict=True)
        loss, weight = sum(losses), sum(weights)
        found = margins[0] if len(margins) == 1 else np.concatenate(margins)
        return Progress(len(batch), loss / weight if weight else 0.0, weight, found)

    def _scaled(self, batch: Batch, most: float = np.inf) -> Iterator[tuple[slice, Batch]]:
        """Give the rows as they are learned, in whole minibatches, and which these are."""
        if self.scaling is None:
            return iter([(slice(None), batch)])
        size = self.config.batch_size
        return self.scaling.parts(batch, size * max(_SCALED_ROWS // size, 1), most)

    def _adjusted(self, batch: Batch) -> Batch:
        """Take out the columns that evidence is adjusted for."""
        if not self.config.adjust:
            return batch
        return set_aside(batch, self.config.adjust, first=self._core.counters.examples == 0)

    def _places(self, places: Places | None) -> npt.NDArray[np.uint64] | None:
        """Where rows stand, as numbers: of the source from 1, then of the line."""
        if places is None or self._shared or not self._core.has_evidence:
            return None
        return pack_places(places, self.sources)

    def finish_pass(self) -> None:
        """Say that one pass over the data is over; automatic steps shrink from pass to pass.

        Rows learned after it are taken to be the same ones once more: calibration learns no more,
        and they are no new evidence about the selected features; see :meth:`expect_new_rows`.
        """
        self._core.finish_pass()

    def expect_new_rows(self) -> None:
        """Say that the rows learned next are not those of an earlier pass.

        Tests of features and calibration continue.
        """
        self._core.freeze_evidence(False)
        self._core.calibrating = True

    def share(self, part: int) -> None:
        """Learn as one of several parts that continue from here, to be averaged with their start.

        Tests take the gains of the rows of this part; they start and stop when parts are averaged.
        """
        self._shared = True
        self._core.share_evidence(part)

    @property
    def evidence(self) -> Evidence | None:
        """State of the tests of the selected features; None where none are made.

        Examples
        --------
        >>> from bearsketch import make_learner
        >>> make_learner(k=2, memory="1KiB").evidence.tests
        0
        """
        return summarise(self._core, self.config.batch_size)

    def proven(
        self,
        fdr: float = 0.1,
        among: str | Sequence[str] | npt.NDArray[np.bool_] | None = None,
        *,
        lines: bool = False,
    ) -> Selected:
        """List the features proven to be associated with the label, strongest first.

        On average at most a share ``fdr`` of them has nothing to do with the label, whatever the
        data look like, as long as rows are independent of each other (one row per user, patient or
        genome). "To do with the label" means: present more or less often with it, itself or
        through other features; not that it is a cause. A name that is missing is not shown to be
        noise.

        Parameters
        ----------
        fdr : float
            Largest share of false names, above 0 and below 1.
        among : str, sequence of str or mask, optional
            Only these: a pattern such as ``"user:*"``, names, or a mask of :meth:`selected`. It may
            be chosen after looking at the names; levels are those of a list of these alone.
        lines : bool
            Join features that stand for the same thing, and count lines instead of names: at most
            a share ``fdr`` of the lines is false. ``members`` has the names of each.

        Returns
        -------
        Selected
            With ``fdr`` as the levels of this list.

        Examples
        --------
        >>> from bearsketch import make_learner
        >>> learner = make_learner(k=2, memory="1KiB")
        >>> _ = learner.learn(Batch.from_rows([["buy"], ["meet"]] * 200, [1, -1] * 200))
        >>> sorted(learner.proven(fdr=0.1).names)
        ['buy', 'meet']
        """
        from bearsketch.learners.proof import prove

        return prove(self, fdr, among, lines=lines)

    def proven_keys(self, fdr: float = 0.1) -> npt.NDArray[np.uint64] | None:
        """Keys of :meth:`proven`, rising; None where nothing was tested."""
        if self.config.k == 0 or self.evidence is None:
            return None
        return np.sort(self.proven(fdr).keys)

    def reopen_pass(self) -> None:
        """Continue within the pass that :meth:`finish_pass` ended, as if it had not."""
        self._core.counters.passes = max(self._core.counters.passes - 1, 0)
        self.expect_new_rows()

    def predict_margin(
        self, batch: Batch, *, selected_only: bool = False
    ) -> npt.NDArray[np.float64]:
        """Margins of shape (n_examples, n_weights), with all features or the selected only."""
        return self._predict(batch, selected_only)

    def calibrated(
        self, margins: npt.NDArray[np.float64], *, selected_only: bool = False
    ) -> npt.NDArray[np.float64]:
        """Margins as probabilities are made of them, see :attr:`calibration`.

        Parameters
        ----------
        margins : ndarray of float64, shape (n_examples, n_weights)
            From :meth:`predict_margin`.
        selected_only : bool
            Whether these margins are of the selected features alone.
        """
        return self._core.calibrated(np.ascontiguousarray(margins), selected_only)

    def probabilities(
        self, margins: npt.NDArray[np.float64], *, selected_only: bool = False
    ) -> npt.NDArray[np.float64]:
        """Probabilities of shape (n_examples, n_classes) from margins, calibrated."""
        if self.config.loss == "squared":
            raise ParameterError("predict_proba needs a classifier, loss is 'squared'")
        means = _core.probabilities(self.calibrated(margins, selected_only=selected_only))
        return np.hstack([1.0 - means, means]) if means.shape[1] == 1 else means

    @property
    def calibration(self) -> dict[str, Calibration | None]:
        """Maps from margins to those that probabilities are made of: all features, selected only.

        They are learned from what examples were predicted before they were learned, in the first
        pass. None where there were fewer than 200, and of numbers: then margins stay as they are.

        Examples
        --------
        >>> from bearsketch import make_learner
        >>> make_learner(k=2, memory="1KiB").calibration
        {'all': None, 'selected_only': None}
        """
        return {name: self._map(only) for name, only in state.WAYS.items()}

    def _map(self, selected_only: bool) -> Calibration | None:
        found = self._core.calibration(selected_only)
        if not found["ready"]:
            return None
        return Calibration(found["examples"], found["slope"], found["offset"])

    def explain(
        self, batch: Batch, n: int = 5, *, selected_only: bool = False
    ) -> list[Explanation]:
        """Give the features that add most to the margin of each example.

        Of several classes this is the margin of the most probable one less the mean over the
        classes, which is all that moves probabilities. Columns that are learned at mean 0 and size
        1 count from their mean.

        Parameters
        ----------
        batch : Batch
            Features are called by the names it carries.
        n : int
            Most parts to give.
        selected_only : bool

        Examples
        --------
        >>> from bearsketch import make_learner
        >>> learner = make_learner(k=2, memory="1KiB")
        >>> mails = Batch.from_rows([["buy", "now"], ["meet", "now"]] * 20, [1, -1] * 20)
        >>> _ = learner.learn(mails)
        >>> why = learner.explain(mails.rows(0, 1), 1)[0]
        >>> int(why.label), why.parts[0].name, why.parts[0].part > 0
        (1, 'buy', True)
        """
        check_most(n)
        keys = self.proven_keys()
        proven = None if keys is None else set(keys.tolist())
        found: list[Explanation] = []
        for rows in self._checked_parts(batch, selected_only):
            with core_errors():
                margins, explained, constants, entries, parts = self._core.reasons(
                    *_entries(rows), selected_only, n
                )
            labels = self._answers(margins, selected_only).tolist()
            for i, (margin, constant) in enumerate(
                zip(explained.tolist(), constants.tolist(), strict=True)
            ):
                own = [
                    Part(
                        _name_of(rows, entry),
                        part,
                        None if proven is None else int(rows.keys[entry]) in proven,
                    )
                    for entry, part in zip(entries[i].tolist(), parts[i].tolist(), strict=True)
                    if entry >= 0
                ]
                rest = margin - constant - sum(part.part for part in own)
                found.append(Explanation(labels[i], margin, constant, own, rest))
        return found

    def explained(
        self,
        batch: Batch,
        n: int,
        quote: Callable[[bytes], str],
        *,
        json: bool,
        selected_only: bool = False,
        proven: npt.NDArray[np.uint64] | None = None,
    ) -> tuple[npt.NDArray[np.float64], list[str]]:
        """Margins, and for each example its reasons as the end of a line of ``predict --why``.

        With ``proven``, from :meth:`proven_keys`, each reason says whether it is among them.
        """
        kind, length = parse_naming(batch.naming)
        bits, alphabet = {"kmer": (2, BASES), "iupac": (4, IUPAC_LETTERS)}.get(kind, (0, ""))
        margins, texts = [], []
        for rows in self._checked_parts(batch, selected_only):
            data, offsets = rows.names or _NO_NAMES
            with core_errors():
                found, lines = self._core.explain(
                    *_entries(rows),
                    data,
                    offsets,
                    selected_only,
                    n,
                    json,
                    bits,
                    length,
                    alphabet,
                    proven,
                    quote,
                )
            margins.append(found)
            texts += lines
        return np.concatenate(margins), texts

    def predict_proba(
        self, batch: Batch, *, selected_only: bool = False
    ) -> npt.NDArray[np.float64]:
        """Probabilities of shape (n_examples, n_classes)."""
        if self.config.loss == "squared":
            raise ParameterError("predict_proba needs a classifier, loss is 'squared'")
        return self.probabilities(
            self.predict_margin(batch, selected_only=selected_only), selected_only=selected_only
        )

    def predict(self, batch: Batch, *, selected_only: bool = False) -> npt.NDArray[Any]:
        """Labels of the most probable classes, or numbers for loss ``squared``.

        Examples
        --------
        >>> from bearsketch import make_learner
        >>> learner = make_learner(k=2, memory="1KiB")
        >>> _ = learner.learn(Batch([0, 1, 2], [3, 4], [1.0, 1.0], labels=[1, -1]))
        >>> learner.predict(Batch([0, 1, 2], [3, 4], [1.0, 1.0]))
        array([ 1, -1])
        """
        return self._answers(self._predict(batch, selected_only), selected_only)

    def _answers(self, margins: npt.NDArray[np.float64], selected_only: bool) -> npt.NDArray[Any]:
        if self.config.loss == "squared":
            return margins[:, 0]
        calibrated = self.calibrated(margins, selected_only=selected_only)
        return self.labels.decode(self.class_numbers(calibrated))

    class_numbers = staticmethod(class_numbers)

    def selected(self) -> Selected:
        """Return the selected features, best first, with names, keys, weights and classes.

        Examples
        --------
        >>> from bearsketch import make_learner
        >>> learner = make_learner(k=2, memory="1KiB")
        >>> _ = learner.learn(Batch.from_rows([["buy"], ["meet"]], [1, -1]))
        >>> sorted(learner.selected().names)
        ['buy', 'meet']
        """
        if self.config.k == 0:
            raise ParameterError(
                f"learner {self.config.learner!r} with k=0 selects nothing",
                hint="Use bear+, bear, mission, newton or awm with k of at least 1.",
            )
        groups = [self._core.selected(g) for g in range(self._core.groups)]
        naming, seed = self.naming, self.config.seed
        names = [name for group in groups for name in shown_names(group, naming, seed)]
        keys = np.concatenate([group["keys"] for group in groups])
        weights = np.concatenate([self._weights_in(g, group) for g, group in enumerate(groups)])
        of_group = np.repeat(np.arange(len(groups)), [len(group["keys"]) for group in groups])
        heaps = of_group if len(groups) > 1 else None
        return self._ranked(names, keys, weights, self.selected_worths(), heaps)

    def order_of(self, selected: Selected) -> npt.NDArray[np.intp]:
        """Place in the core, heap after heap, of each selected feature."""
        groups = [self._core.selected(g)["keys"] for g in range(self._core.groups)]
        if len(groups) == 1:
            at = {key: i for i, key in enumerate(groups[0].tolist())}
            return np.array([at[key] for key in selected.keys.tolist()], dtype=np.intp)
        label_of = [self.labels.label(g) for g in range(len(groups))]
        pairs: list[tuple[int, Label | None]] = [
            (key, label_of[g]) for g, keys in enumerate(groups) for key in keys.tolist()
        ]
        number = {pair: i for i, pair in enumerate(pairs)}
        wanted = zip(selected.keys.tolist(), selected.labels, strict=True)
        return np.array([number[pair] for pair in wanted], dtype=np.intp)

    def selected_weights(self) -> npt.NDArray[np.float64]:
        """Weights of the selected features, in no order: cheap, as no names are made.

        Examples
        --------
        >>> from bearsketch import make_learner
        >>> make_learner(k=2, memory="1KiB").selected_weights().shape
        (0, 1)
        """
        groups = range(self._core.groups)
        return np.concatenate([self._weights_in(g, self._core.selected(g)) for g in groups])

    def column_sizes(self, keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.float64]:
        """Give what values are divided by before they are learned."""
        return np.ones(len(keys)) if self.scaling is None else self.scaling.sizes_of(keys)

    def selected_worths(self) -> npt.NDArray[np.float64]:
        """Give what a unit of each counts by where features are ranked, in the same order."""
        groups = [self._core.selected(g) for g in range(self._core.groups)]
        keys = np.concatenate([group["keys"] for group in groups])
        worths = np.concatenate([group["worths"] for group in groups])
        return np.asarray(worths * self.column_sizes(keys))

    def _weights_in(self, number: int, group: dict[str, Any]) -> npt.NDArray[np.float64]:
        if self.config.storage.startswith("cached"):
            kept: npt.NDArray[np.float64] = group["weights"]
            return kept / self.column_sizes(group["keys"])[:, None]
        # A plain sketch moves on after a key was last offered: read its weights as predictions do.
        weights = self.weights_of(group["keys"])
        return weights[:, number : number + 1] if self._core.groups > 1 else weights

    def second_names(self) -> dict[int, str]:
        """Second names of selected keys that were seen under two names, by key."""
        return second_names(self._core.selected(g) for g in range(self._core.groups))

    def _ranked(
        self,
        names: list[str],
        keys: npt.NDArray[np.uint64],
        weights: npt.NDArray[np.float64],
        worths: npt.NDArray[np.float64],
        of_group: npt.NDArray[np.intp] | None,
    ) -> Selected:
        largest = spoken_for(self.config.update, weights)
        number = largest if of_group is None else of_group
        two = self.config.loss == "logistic"
        number = classes_of(weights[:, 0], number, two=two)
        order = np.lexsort((number, keys, -sizes_of(self.config.update, weights) * worths))
        regression = self.config.loss == "squared"
        table = Table.of(self._core)
        return Selected(
            names=[names[i] for i in order],
            keys=keys[order],
            weights=weights[np.arange(len(keys)), largest][order],
            labels=[None if regression else self.labels.label(int(number[i])) for i in order],
            all_weights=weights[order],
            worths=worths[order],
            **self._tests(table, order),
        )

    def _tests(self, table: Table | None, order: npt.NDArray[np.intp]) -> dict[str, Any]:
        regression, unknown = self.config.loss == "squared", np.full(len(order), np.nan)
        if table is None:
            found = dict.fromkeys(("fdr", "log10_e", "odds_ratio"), unknown)
            tested = [None] * len(order)
            return {**found, "rows": np.zeros(len(order), np.int64), "tested": tested}
        labels = table.arrays["labels"][order].tolist()
        return {
            "fdr": table.levels()[order],
            "log10_e": table.log10_e[order],
            "odds_ratio": table.effects(numbers=regression)[order],
            "rows": table.arrays["rows"][order].astype(np.int64),
            "tested": [None if regression else self.labels.label(label) for label in labels],
        }

    def weights_of(self, keys: Any) -> npt.NDArray[np.float64]:
        """Weights of any distinct keys, shape (n_keys, n_weights), as predictions use them."""
        own = np.require(keys, np.uint64, ["C_CONTIGUOUS", "ALIGNED"])
        with core_errors():
            return self._core.query(own) / self.column_sizes(own)[:, None]

    def merge(self, other: Learner) -> None:
        """Average in another learner, weighted by examples seen.

        This one becomes what :func:`~bearsketch.learners.average.average` gives for both.

        Raises
        ------
        IncompatibleError
            Unless both have the same configuration (seed and shape included), labels and naming.
        """
        from bearsketch.learners.average import average, check_mergeable

        check_mergeable(self, other)
        merged = average([self, other])
        self._core, self.naming, self.labels = merged._core, merged.naming, merged.labels
        self.scaling, self.sources = merged.scaling, merged.sources

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file: the same model gives the same bytes, and it is whole or absent.

        One that is loaded learns on to the same bytes; but second-order learners (``bear``,
        ``olbfgs``) begin without their last pairs, which only checkpoints of a run keep.
        """
        state.save(self, path)

    def to_bytes(self) -> bytes:
        """Bytes of the model file."""
        return model_file.pack(*state.dump(self))

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Inverse of :meth:`to_bytes`; raises as :func:`load`."""
        record, fill_in = state.read(*model_file.unpack(data), "model")
        learner = cls(record.config, record.labels)
        fill_in(learner)
        return learner

    def __reduce__(self) -> tuple[Any, ...]:  # a copy is what save() would keep
        return type(self).from_bytes, (self.to_bytes(),)

    def __repr__(self) -> str:
        config, size = self.config, self.sizes.model_bytes
        return f"<{config.learner}: {config.loss}, k={config.k}, {size:,} bytes>"

    @property
    def sizes(self) -> Sizes:
        """Bytes of cells and selected entries."""
        return self.config.sizes

    @property
    def counters(self) -> dict[str, int]:
        """Examples, minibatches and passes learned."""
        counters = self._core.counters
        return {name: getattr(counters, name) for name in state.COUNTERS}

    @property
    def guards(self) -> dict[str, int]:
        """How often each numerical guard acted, and keys seen under two names."""
        counts = {name: getattr(self._core.guards, name) for name in state.GUARDS}
        return {**counts, "name_collisions": self._core.name_collisions}

    @property
    def gradient_norm(self) -> float:
        """Largest gradient norm of a minibatch in the current pass."""
        return self._core.counters.gradient_norm

    @property
    def intercept(self) -> npt.NDArray[np.float64]:
        """Intercept per weight column; zeros without one."""
        return np.array(self._core.intercept) - self._shift(selected_only=False)

    @property
    def selected_intercept(self) -> npt.NDArray[np.float64]:
        """Constant of the selected features alone, in the same shape."""
        return np.array(self._core.selected_intercept) - self._shift(selected_only=True)

    def _shift(self, *, selected_only: bool) -> npt.NDArray[np.float64]:
        """Give what the means of scaled columns come to, by weight column."""
        if self.scaling is None:
            return np.zeros(self.config.columns)
        keys = self.scaling.keys
        one_each = Batch(np.arange(len(keys) + 1), keys, np.ones(len(keys), np.float32))
        own = self._core.selected_intercept if selected_only else self._core.intercept
        margins = self._core.predict(*_entries(one_each), selected_only, False)
        return combine(self.scaling.shifts_of(keys), margins - np.array(own))

    def fill(self) -> dict[str, float]:
        """How full the storage is: cells, used, largest magnitude, root mean square."""
        return self._core.fill()

    def _predict(self, batch: Batch, selected_only: bool) -> npt.NDArray[np.float64]:
        parts = self._checked_parts(batch, selected_only)
        with core_errors():
            found = [self._core.predict(*_entries(part), selected_only, False) for part in parts]
        return found[0] if len(found) == 1 else np.concatenate(found)

    def _checked_parts(self, batch: Batch, selected_only: bool) -> Iterator[Batch]:
        """Give the rows of a batch as they are learned."""
        if selected_only and self.config.k == 0:
            raise ParameterError("selected_only needs selected features, this learner has k=0")
        _check_batch(batch)
        self._check_kin(batch)
        return (part for _, part in self._scaled(batch))

    def check_learns(self) -> None:
        """Refuse to learn on from, or merge, a model of a release whose ``bear+`` was another."""
        if self.config.update != "posterior" or self._core.counters.batches == 0:
            return
        if self._core.state(False)["update.rows"][0] == 0.0:
            raise IncompatibleError(
                "the model is of a release whose bear+ learned otherwise: it has no precisions of "
                "its weights",
                hint="It still predicts, lists features and exports. Train it again to learn on.",
            )

    def _check_kin(self, batch: Batch) -> None:
        if batch.naming == "name" and batch.seed != self.config.seed:
            raise IncompatibleError(
                f"the batch hashed its names with seed {batch.seed}, the learner has seed "
                f"{self.config.seed}",
                hint="Read the data with the learner's seed.",
            )
        if self.naming is not None and batch.naming != self.naming:
            raise IncompatibleError(
                f"the features of the model are of another kind ({self.naming}) than those of "
                f"the data ({batch.naming})",
                hint=naming_hint(self.naming, batch.naming),
            )


def _entries(batch: Batch) -> tuple[Any, Any, Any]:
    return batch.indptr, batch.keys, batch.values


def check_most(n: Any, what: str = "n") -> None:
    """Refuse a number of reasons that is none."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or not 1 <= n <= MOST_REASONS:
        raise ParameterError(f"{what} must be a whole number from 1 to {MOST_REASONS}, got {n!r}")


def _name_of(batch: Batch, entry: int) -> str:
    if batch.names is None:
        return key_name(int(batch.keys[entry]), batch.naming)
    return bytes(batch.names[entry]).decode("utf-8", "backslashreplace")


def _check_batch(batch: object) -> None:
    if not isinstance(batch, Batch):
        raise WrongTypeError(
            f"examples must come in a Batch, got {type(batch).__name__}",
            hint="Make one of rows: Batch.from_rows([{'free': 1.0}, {'lunch': 1.0}], [1, 0]).",
        )


def _make_core(config: Config) -> _core.Learner:
    try:
        with core_errors():
            return _core.Learner(config.core_fields())
    except MemoryError:
        raise LimitError(
            f"the model must fit into memory, got {config.sizes.model_bytes} bytes",
            code="MEM-MODEL",
            hint="Give less memory, a smaller width or a smaller k.",
        ) from None
