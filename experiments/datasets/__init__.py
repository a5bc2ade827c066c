"""Real data sets, prepared from a folder of their original files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bearsketch.exceptions import ParameterError, SourceError
from experiments.datasets import clicks, genomes, text
from experiments.datasets.prepared import Prepared

RECIPE_VERSION = 1  # part of the names of prepared files: raise it when a recipe changes


@dataclass(frozen=True, slots=True)
class Dataset:
    """How to prepare a data set, and what to measure on it.

    Attributes
    ----------
    prepare : callable
        From the data folder to the prepared rows.
    classes : int
    work : float
        Millions of weights read in one pass, for the time left.
    skewed : bool
        Whether one class is rare: then AUC is measured, and every learner has an intercept.
    title : str
        For figures.
    """

    prepare: Callable[[Path], Prepared]
    classes: int
    work: float
    skewed: bool
    title: str


DATASETS: Mapping[str, Dataset] = {
    "rcv1": Dataset(text.rcv1, 2, 1.3, False, "RCV1"),
    "avazu": Dataset(clicks.avazu, 2, 0.2, True, "Avazu"),
    "hashed24": Dataset(clicks.hashed24, 2, 0.2, True, "hashed24"),
    "farm-ads": Dataset(text.farm_ads, 2, 0.8, False, "Farm ads"),
    "20news": Dataset(text.news_binary, 2, 4.5, False, "20 newsgroups, two sides"),
    "ipinyou": Dataset(clicks.ipinyou, 2, 0.5, True, "iPinYou"),
    "urls": Dataset(text.urls, 2, 9.7, False, "URLs"),
    "imdb": Dataset(text.imdb, 2, 9, False, "IMDB"),
    "spam": Dataset(text.spam, 2, 9, False, "SpamAssassin, byte trigrams"),
    "dna": Dataset(genomes.dna, 15, 20, False, "DNA"),
    "20news20": Dataset(text.news, 20, 20, False, "20 newsgroups"),
}


def prepared_path(name: str, folder: Path) -> Path:
    """Where the prepared rows of a data set are kept."""
    return folder / f"{name}-{RECIPE_VERSION}.npz"


def prepare(name: str, data: Path, folder: Path) -> Path:
    """Prepare a data set unless that is done, and say where it is.

    Parameters
    ----------
    name : str
        A key of ``DATASETS``.
    data : Path
        Folder with ``text``, ``clicks`` and ``genomes``.
    folder : Path
        Where prepared rows are kept.

    Raises
    ------
    SourceError
        When a file of the data set is missing or damaged.
    """
    if name not in DATASETS:
        raise ParameterError(
            f"the data set must be one of {', '.join(DATASETS)}, got {name!r}", code="EXP-DATASET"
        )
    path = prepared_path(name, folder)
    if not path.exists():
        try:
            prepared = DATASETS[name].prepare(data)
        except (OSError, EOFError) as error:
            raise SourceError(
                f"cannot prepare {name} from {data}: {error}",
                code="EXP-DATA",
                hint="Give --data the folder that holds text, clicks and genomes; "
                "python -m experiments datasets list shows what can be fetched.",
            ) from error
        prepared.save(path)
    return path
