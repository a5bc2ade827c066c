"""Names at a stated error rate."""

from __future__ import annotations

import fnmatch
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bearsketch.evidence import lines as lines_
from bearsketch.evidence import records
from bearsketch.evidence.places import show_place
from bearsketch.evidence.summary import Table
from bearsketch.exceptions import ParameterError
from bearsketch.wording import for_python

if TYPE_CHECKING:
    from bearsketch.learners.learner import Learner
    from bearsketch.learners.selected import Selected

DEFAULT_FDR = 0.1  # of what is said about all names

Among = str | Sequence[str] | npt.NDArray[np.bool_] | None


def check_fdr(fdr: Any) -> None:
    """Refuse a level that is no share."""
    if not isinstance(fdr, (int, float)) or isinstance(fdr, bool) or not 0.0 < fdr < 1.0:
        raise ParameterError(
            f"{{fdr}} must be above 0 and below 1, got {fdr!r}",
            code="EVIDENCE-LEVEL",
            hint="0.1 allows for one false name in ten, on average.",
        )


def table_of(learner: Learner) -> Table:
    """Evidence of a learner, or a refusal where it has none."""
    table = Table.of(learner._core)
    if table is None:
        raise ParameterError(
            "the model has no evidence about its features: it selects none, was trained with "
            "{evidence=False}, or by an earlier release",
            code="EVIDENCE-NONE",
            hint="Train again; evidence is gathered by default for every learner that names.",
        )
    return table


def prove(learner: Learner, fdr: float, among: Among = None, *, lines: bool = False) -> Selected:
    """See :meth:`Learner.proven`."""
    check_fdr(fdr)
    found = judge(learner, among, lines=lines)
    _warn(learner)
    return found.take(np.flatnonzero(found.fdr <= fdr))


def proven_among(learner: Learner, selected: Selected, fdr: float) -> Selected:
    """Take the features that are proven among all, in their order; warn of what that leaves out."""
    check_fdr(fdr)
    table_of(learner)
    _warn(learner)
    return selected.take(np.flatnonzero(selected.fdr <= fdr))


def _warn(learner: Learner) -> None:
    for _, text in learner.evidence.warnings() if learner.evidence else ():
        warnings.warn(for_python(text), UserWarning, stacklevel=4)


def judge(learner: Learner, among: Among = None, *, lines: bool = False) -> Selected:
    """List selected features, or lines of them, with the levels of such a list.

    The strongest come first; those without a level last, in the order of :meth:`Learner.selected`.
    """
    table, selected = table_of(learner), learner.selected()
    places = learner.order_of(selected)
    chosen = _mask(selected, among)
    members: dict[int, list[int]] = {}
    if lines:
        members = _lines(learner, table, selected, places, chosen)
        leaders = np.zeros(len(selected), bool)
        leaders[list(members)] = True
        rest = {i for line in members.values() for i in line[1:]}
        chosen = chosen & (leaders | ~np.isin(np.arange(len(selected)), list(rest)))
    candidates = np.zeros(len(selected), bool)
    candidates[places] = chosen
    levels = table.levels(candidates)[places]
    judged = replace(selected, fdr=levels)
    kept = np.flatnonzero(chosen)
    level, strength = judged.fdr[kept], judged.log10_e[kept]
    unknown = np.isnan(level)
    order = np.lexsort(
        (np.where(unknown, 0.0, -np.nan_to_num(strength)), np.where(unknown, np.inf, level))
    )
    taken = judged.take(kept[order])
    if not lines:
        return taken
    names = [[selected.names[j] for j in members.get(i, [i])] for i in kept[order].tolist()]
    return replace(taken, members=names)


def examples_of(learner: Learner, selected: Selected, n: int) -> list[list[str]]:
    """Where up to ``n`` sampled rows of each feature stand: ``file:line``, or the row's number."""
    table = table_of(learner)
    places = learner.order_of(selected)
    sizes = np.minimum(table.arrays["sample_sizes"], min(n, records.PLACED))
    shown = []
    for i in places.tolist():
        numbers = table.arrays["places"][i][: sizes[i]].tolist()
        shown.append([show_place(number, learner.sources) for number in numbers if number])
    return shown


def contig_of(line: Sequence[str]) -> str:
    """Join the k-mers of a line."""
    return lines_.contig(line)


def has_kmers(learner: Learner) -> bool:
    """Whether features are k-mers."""
    return (learner.naming or "").startswith(("kmer", "iupac"))


def _mask(selected: Selected, among: Among) -> npt.NDArray[np.bool_]:
    if among is None:
        return np.ones(len(selected), bool)
    if isinstance(among, str):
        matched = [fnmatch.fnmatchcase(name, among) for name in selected.names]
        return np.array(matched, dtype=bool)
    if isinstance(among, np.ndarray) and among.dtype == bool:
        if among.shape != (len(selected),):
            raise ParameterError(
                f"among must be a mask of the {len(selected)} selected features, got shape "
                f"{among.shape}"
            )
        return among
    names = set(among)
    return np.array([name in names for name in selected.names], dtype=bool)


def _lines(
    learner: Learner,
    table: Table,
    selected: Selected,
    places: npt.NDArray[np.intp],
    chosen: npt.NDArray[np.bool_],
) -> dict[int, list[int]]:
    """Lines of the features that a list may have, by the largest gain; all as ranks."""
    log_e = table.arrays["log_e"][places]
    candidate = chosen & table.tested[places] & (log_e > 0)
    gains = np.log(np.maximum(table.arrays["stake"][places].astype(np.float64), 1e-300)) + log_e
    order = np.flatnonzero(candidate)
    order = order[np.argsort(-gains[order], kind="stable")]
    own = {
        name: table.arrays[name][places] for name in ("sampled", "sample_sizes", "rows", "since")
    }
    own["sizes"] = own.pop("sample_sizes")
    samples = lines_.Samples(**own, total=table.total)
    found: dict[int, list[int]] = {}
    for labels in sorted({str(label) for label in selected.tested}):  # a line is about one class
        mine = [i for i in order.tolist() if str(selected.tested[i]) == labels]
        found |= lines_.find_lines(samples, mine, selected.names if has_kmers(learner) else None)
    return found


def sentence(proven: int, selected: int, fdr: float, noun: str = "name") -> str:
    """Say how many names are proven.

    Examples
    --------
    >>> sentence(401, 500, 0.1)
    '401 of 500 names are proven at 10 %'
    >>> sentence(0, 500, 0.1)
    'nothing is proven at 10 %: none of 500 names is shown to be associated with the label'
    """
    names = f"{selected:,} {noun}{'' if selected == 1 else 's'}"
    if proven == 0:
        return (
            f"nothing is proven at {percent(fdr)}: none of {names} is shown to be associated with "
            "the label"
        )
    return f"{proven:,} of {names} {'is' if proven == 1 else 'are'} proven at {percent(fdr)}"


def percent(fdr: float) -> str:
    """Show a level as a percentage."""
    return f"{100 * fdr:g} %"


def proven_text(learner: Learner, fdr: float = DEFAULT_FDR) -> str:
    """Say how many of the selected names are proven; empty where nothing is selected."""
    if learner.config.k == 0:
        return ""
    if learner.evidence is None:
        return "names are not tested: the model has no evidence about them"
    levels = learner.selected().fdr
    return sentence(int((levels <= fdr).sum()), len(levels), fdr)
