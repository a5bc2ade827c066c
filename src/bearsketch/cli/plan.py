"""``bearsketch plan``."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Annotated

import typer

from bearsketch.cli.options import Json
from bearsketch.exceptions import ParameterError
from bearsketch.sizes import format_bytes

if TYPE_CHECKING:
    from bearsketch.planning import Plan


def plan(
    memory: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SIZE",
            help="Bytes the model keeps, such as 64KiB; several to compare.",
            show_default=False,
        ),
    ] = None,
    k: Annotated[
        int | None,
        typer.Option(
            "-k", min=1, metavar="N", help="Features to select; alone: find the memory for them."
        ),
    ] = None,
    features: Annotated[
        str, typer.Option(metavar="N", help="Different features in the data, such as 1e6.")
    ] = "1e6",
    tail: Annotated[
        float,
        typer.Option(metavar="S", help="Weights fall like 1 / rank^S; use 0.1 for k-mers."),
    ] = 0.5,
    classes: Annotated[
        int, typer.Option(min=1, metavar="N", help="Number of classes; 1 for regression.")
    ] = 2,
    per_class: Annotated[
        bool, typer.Option("--per-class/--shared", help="Select k features for each class.")
    ] = False,
    learner: Annotated[
        str, typer.Option(metavar="NAME", help="One of bear+, bear, mission, newton, awm.")
    ] = "bear+",
    passes: Annotated[int, typer.Option(min=1, metavar="N", help="Passes over the data.")] = 1,
    depth: Annotated[
        int | None, typer.Option(metavar="N", help="Rows of the sketch.", show_default=False)
    ] = None,
    as_json: Json = False,
) -> None:
    """Show what a memory budget buys, or the memory that k features need, before reading data.

    The noise floor is the Count Sketch bound for weights that fall like 1 / rank^S, in units of
    the smallest weight to be selected. Peak memory is that of the whole process.

    **Examples**

    `bearsketch plan --memory 64KiB --memory 1MiB -k 500 --features 2e6`

    `bearsketch plan -k 1000 --features 1e8 --classes 20 --json`

    `bearsketch plan -k 1000 --features 2e6 --tail 0.1`
    """
    from bearsketch.planning import KMER_TAIL
    from bearsketch.planning import plan as make_plan

    make = functools.partial(
        make_plan,
        learner=learner,
        classes=classes,
        per_class=per_class,
        passes=passes,
        depth=depth,
        features=parse_count(features),
    )
    budgets: list[str | None] = [*memory] if memory else [None]
    plans = [make(budget, k, tail=tail) for budget in budgets]
    if as_json:
        print(json.dumps({"plans": [one.to_json() for one in plans]}, allow_nan=False))
        return
    flat = [make(one.model_bytes, one.k, tail=KMER_TAIL) for one in plans if tail > KMER_TAIL]
    print(_table(plans, flat))


def parse_count(text: str) -> int:
    """Count as digits or in powers of ten.

    Examples
    --------
    >>> parse_count("1e6"), parse_count("47_236")
    (1000000, 47236)
    """
    try:
        value = float(text)
        if not 1 <= value <= 2**63 or value != int(value):
            raise ValueError
        return int(text) if text.replace("_", "").isdecimal() else int(value)
    except (ValueError, OverflowError):
        raise ParameterError(
            f"--features must be a whole number such as 1e6, got {text!r}"
        ) from None


def _share(many: float, k: int) -> str:
    """Show a number of the k selected features, at most all of them."""
    return f"{many:,.1f} of {k:,}" if many < k else f"all {k:,}"


def _table(plans: list[Plan], flat: list[Plan]) -> str:
    """Show plans side by side; ``flat`` are the same plans for weights like those of k-mers."""
    rows: list[tuple[str, list[str]]] = [
        ("model", [format_bytes(p.model_bytes) for p in plans]),
        ("  cells", [f"{p.width:,} x {p.depth} {p.precision}" for p in plans]),
        ("", [format_bytes(p.cell_bytes) for p in plans]),
        ("  selected (k)", [f"{p.k:,}" for p in plans]),
        ("", [format_bytes(p.selected_bytes) for p in plans]),
        ("compression", [f"{p.compression:,.1f} times" for p in plans]),
        ("features a cell", [f"{p.crowding:,.2f}" for p in plans]),
        ("noise floor", [f"{p.noise_floor:.3g} of weight k" for p in plans]),
        ("by chance", [_share(p.by_chance, p.k) for p in plans]),
        ("memory is", [p.verdict for p in plans]),
        *([(f"  k-mers, S {flat[0].tail:g}", [p.verdict for p in flat])] if flat else []),
        ("model file", [f"about {format_bytes(p.file_bytes)}" for p in plans]),
        ("process peak", [format_bytes(p.peak_bytes) for p in plans]),
    ]
    wide = [max(len(values[i]) for _, values in rows) + 3 for i in range(len(plans))]
    first = plans[0]
    head = (
        f"{first.learner}, {first.features:,} features with weights like 1 / rank^{first.tail:g}"
        + (f", {first.classes} classes" if first.classes > 2 else "")
    )
    lines = [
        f"{name:17}" + "".join(f"{value:>{w}}" for value, w in zip(values, wide, strict=True))
        for name, values in rows
    ]
    return "\n".join([head, *lines])
