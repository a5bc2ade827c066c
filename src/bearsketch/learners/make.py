"""Making a learner: from the table of recipes, or from a model file."""

from __future__ import annotations

import os
from collections.abc import Sequence

from bearsketch.learners import state
from bearsketch.learners.config import resolve
from bearsketch.learners.labels import Label, Labels
from bearsketch.learners.learner import Learner
from bearsketch.learners.parts import Step


def make_learner(
    learner: str = "bear+",
    *,
    k: int | None = None,
    memory: str | int | None = None,
    width: int | None = None,
    depth: int | None = None,
    dimension: int | None = None,
    compression: float | None = None,
    loss: str = "logistic",
    classes: int | Sequence[Label] | None = None,
    step_size: str | float | Step = "auto",
    history: int = 5,
    query: str | None = None,
    reads: str | None = None,
    per_class: bool = False,
    l2: float = 0.0,
    intercept: bool | None = None,
    batch_size: int | None = None,
    seed: int = 0,
    precision: str | None = None,
    evidence: bool = True,
    adjust: Sequence[str] = (),
) -> Learner:
    """Make a learner from the table of recipes.

    Parameters
    ----------
    learner : str
        ``bear+``, ``bear``, ``mission``, ``newton``, ``sgd``, ``olbfgs``, ``fh`` or ``awm``.
    k : int, optional
        Features to select; with ``per_class`` for each class. Default: a quarter of the memory,
        at most 1,000. 0 with ``bear+``: prediction only, every byte becomes cells.
    memory : str or int, optional
        Bytes the model keeps, such as ``"256KiB"`` (the default): cells and selected entries;
        see :func:`bearsketch.sizes.split_memory`. Names are outside it.
    width, depth : int, optional
        Columns and rows of the sketch, instead of ``memory``.
    dimension : int, optional
        Number of possible features: needed by ``sgd`` and ``olbfgs``, and with ``compression``.
    compression : float, optional
        With ``dimension``, instead of ``memory``: the model is this many times smaller than one
        weight per possible feature.
    loss : str
        ``logistic``, ``softmax`` or ``squared``.
    classes : int or sequence, optional
        Labels in class order, or how many. Needed for ``softmax``; for ``logistic`` the default
        is -1 or 0 against 1: whichever of -1 and 0 comes first is learned and predicted, and the
        other is refused.
    step_size : "auto", float or step
        ``auto`` needs no tuning, and is all that ``bear+`` takes; a number is a constant step; or
        :class:`Automatic`, :class:`Constant`, :class:`Decaying`.
    history : int
        Pairs of L-BFGS. 0 makes ``bear`` the same as ``mission``.
    query : str, optional
        ``mean`` or ``median`` of the rows of the sketch; the default is the recipe's.
    reads : str, optional
        ``storage`` or ``selection``: what gradients see; the default is the recipe's.
    per_class : bool
        One heap for each class (as in the paper) instead of one shared by all.
    l2 : float
        Strength of L2 decay, 0 for ``bear+``, which learns its prior; every weight shrinks by
        ``step * l2`` per minibatch.
    intercept : bool, optional
        Learn a constant per class, with a step of its own; the default is the recipe's.
    batch_size : int, optional
        Examples in a minibatch; the default is the recipe's, 100 of ``bear+`` and 20 of others.
        ``bear+`` also ends one before it has more than 32,768 entries.
    seed : int
        Changes every hash; learners merge only with the same one.
    precision : str, optional
        Type of the cells: ``int8``, ``float32`` or ``float64`` (for exact recovery studies); the
        default is the recipe's.
    evidence : bool
        Test each selected feature on rows that did not select it, so that :meth:`Learner.proven`
        can list names at a stated error rate. Costs 20 bytes per selected feature and 8 for each
        of 16 sampled rows while training, beside ``memory``.
    adjust : sequence of str
        Categorical columns, fields or namespaces that evidence is adjusted for, such as a site or
        a day: rows are compared only with rows of the same values. They are not features.

    Returns
    -------
    Learner

    Examples
    --------
    >>> learner = make_learner("bear+", k=10, memory="4KiB")
    >>> learner.sizes.model_bytes <= 4096
    True
    """
    labels = Labels(loss, classes)
    given = dict(locals())
    for name in ("labels", "classes", "learner"):
        del given[name]
    return Learner(resolve(learner, n_classes=len(labels), **given), labels)


def load(path: str | os.PathLike[str]) -> Learner:
    """Read a model file; runs no code from it and opens no other file.

    Raises
    ------
    ModelFileError
        When the file is foreign, damaged or of a later format.
    """
    record, fill_in = state.load(path)
    learner = Learner(record.config, record.labels)
    fill_in(learner)
    return learner
