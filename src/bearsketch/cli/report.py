"""``bearsketch report``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bearsketch.cli.display import make_display
from bearsketch.cli.evaluate import score_stream
from bearsketch.cli.guard import say
from bearsketch.cli.model import load_model, open_like
from bearsketch.cli.options import Quiet, takes_reading
from bearsketch.exceptions import ParameterError

if TYPE_CHECKING:
    from bearsketch.learners import Learner
    from bearsketch.metrics import Scores
    from bearsketch.training.session import Session
    from bearsketch.training.summary import Summary


@takes_reading
def report(
    models: Annotated[
        list[Path], typer.Argument(metavar="MODEL...", help="One .bear file, or up to six.")
    ],
    *,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="PAGE", help="The HTML page to write; - is standard output."
        ),
    ],
    data: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEST",
            help="Labelled data to test the models on; may be given several times.",
            show_default=False,
        ),
    ] = None,
    title: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Heading of the page.", show_default=False)
    ] = None,
    quiet: Quiet = False,
    reading: dict[str, Any],
) -> None:
    """Write one self-contained page about a model, or several side by side.

    Learning curve, ranked features (search, sort, switch by class), weights against the noise
    floor of the sketch, memory, settings to repeat the run; with --data also ROC and confusion.
    The page loads nothing from any network.

    **Examples**

    `bearsketch report spam.bear --data test.vw.gz -o spam.html`

    `bearsketch report small.bear large.bear -o compare.html`
    """
    from bearsketch.cli.checks import STANDARD, check_output
    from bearsketch.files import write_whole
    from bearsketch.report import Subject, render

    if output != STANDARD:
        check_output(output, [*map(str, models), *(data or [])])
    if data and "-" in data and len(models) > 1:
        raise ParameterError(
            "standard input can be read only once, and there are several models",
            hint="Save the test data as a file.",
        )
    subjects = []
    for path, name in zip(models, short_names(models), strict=True):
        learner = load_model(path)
        scores = _scores(learner, data, reading, quiet) if data else None
        subjects.append(Subject(name, learner, scores, {"file_bytes": path.stat().st_size}))
    page = render(subjects, title=title)
    if output == STANDARD:
        print(page, end="")
        return
    write_whole(output, page.encode())
    if not quiet:
        say(f"wrote {output}")


def _scores(
    learner: Learner, data: list[str], reading: dict[str, Any], quiet: bool
) -> dict[str, Scores]:
    with open_like(learner, data, reading, labelled=True) as stream, make_display(quiet) as display:
        return score_stream(learner, stream, display)


def short_names(paths: list[Path]) -> list[str]:
    """Give base names, or whole paths where those are the same.

    Examples
    --------
    >>> short_names([Path("a/m.bear"), Path("b/m.bear"), Path("c/n.bear")])
    ['a/m.bear', 'b/m.bear', 'n.bear']
    """
    bases = [path.name for path in paths]
    return [
        name if bases.count(name) == 1 else str(path)
        for path, name in zip(paths, bases, strict=True)
    ]


def write_training_report(page: Path, session: Session, summary: Summary, model: Path) -> None:
    """Write the page of a run that has just ended, with its times and peak memory."""
    from bearsketch.files import write_whole
    from bearsketch.report import Subject, render

    known = ("seconds", "examples_per_second", "peak_rss_bytes")
    extra = {name: getattr(summary, name) for name in known}
    extra |= {"file_bytes": model.stat().st_size, "sources": session.stream.sources}
    subject = Subject(model.name, session.learner, None, extra)
    write_whole(page, render([subject]).encode())
