"""Draw figures from tables alone; nothing here runs an experiment."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from bearsketch.exceptions import ParameterError, SourceError

COLOURS = {
    "bear+": "#D55E00",
    "bear": "#0072B2",
    "newton": "#009E73",
    "mission": "#CC79A7",
    "olbfgs": "#000000",
    "sgd": "#777777",
    "fh": "#56B4E9",
    "awm": "#E69F00",
}
DASHES = {"median": "-", "mean": "--", "dense": ":", "summed": "-.", "int8": "--", "k=0": ":"}
SMALLEST_ERROR = 1e-10
MOST_ACROSS = 2
SETTINGS: dict[Any, Any] = {
    "svg.hashsalt": "bearsketch",  # the same table gives the same bytes
    "svg.fonttype": "none",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
}

Row = dict[str, str]


def need_matplotlib() -> None:
    """Refuse at once where nothing could be drawn."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise ParameterError(
            "figures need matplotlib, which is not installed",
            code="SIM-MATPLOTLIB",
            hint="pip install 'bearsketch[plots]'",
        ) from None


def draw(name: str, table: Path, out: Path) -> list[Path]:
    """Draw one figure as PNG and SVG.

    Parameters
    ----------
    name : str
        Which figure; a key of ``DRAWINGS``.
    table : Path
        The CSV file that :func:`experiments.reproduce.reproduce` wrote.
    out : Path
        Folder for ``NAME.png`` and ``NAME.svg``.
    """
    need_matplotlib()
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot as plt

    rows = read_table(table)
    drawing, panels = DRAWINGS[name]
    with mpl.rc_context(SETTINGS):
        n = panels if isinstance(panels, int) else panels(rows)
        across = min(n, MOST_ACROSS)
        down = -(-n // across)
        figure, axes = plt.subplots(
            down,
            across,
            figsize=(5.2 * across, 3.6 * down),
            layout="constrained",
            squeeze=False,
        )
        for spare in axes.ravel()[n:]:
            spare.remove()
        drawing(rows, list(axes.ravel()[:n]))
        paths = [out / f"{name}.png", out / f"{name}.svg"]
        try:
            figure.savefig(paths[0], dpi=110, metadata={"Software": None})
            figure.savefig(paths[1], metadata={"Date": None})
        except OSError as error:
            raise SourceError(f"cannot write {out}: {error}", code="IO-WRITE") from error
        finally:
            plt.close(figure)
    return paths


def read_table(path: Path) -> list[Row]:
    """Read the rows of a table."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))
    except OSError as error:
        raise SourceError(f"cannot read {path}: {error.strerror}", code="IO-READ") from error


def _results(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Rows of results by series, in the order of the table."""
    series: dict[str, list[Row]] = {}
    for row in rows:
        if row.get("stage", "result") == "result":
            series.setdefault(row["series"], []).append(row)
    return series


def _style(series: str) -> dict[str, Any]:
    words = series.replace(",", "").split()
    dash = next((DASHES[word] for word in reversed(words) if word in DASHES), "-")
    wide = words[0] == "bear+"
    return {
        "color": COLOURS[words[0]],
        "linestyle": dash,
        "linewidth": 2.2 if wide else 1.4,
        "marker": "o",
        "markersize": 4 if wide else 3,
        "label": series,
    }


def _numbers(rows: list[Row], column: str) -> list[float]:
    return [float(row[column]) if row[column] else float("nan") for row in rows]


def _success(axis: Any, rows: list[Row], x: str) -> None:
    """Success with standard errors against a column, one line per series."""
    for name, points in _results(rows).items():
        if len(points) == 1 and points[0]["learner"] in ("sgd", "olbfgs"):
            style = {**_style(name), "marker": ""}
            axis.axhline(float(points[0]["success"]), **style)
            continue
        bars = {"yerr": _numbers(points, "success_se"), "capsize": 2, "elinewidth": 0.7}
        axis.errorbar(_numbers(points, x), _numbers(points, "success"), **bars, **_style(name))
    axis.set_ylim(-0.04, 1.06)
    axis.set_ylabel("share of trials that found all features")


def _compressions(axis: Any, rows: list[Row]) -> None:
    ticks = sorted({round(float(r["compression"]), 2) for r in rows if float(r["compression"]) > 1})
    axis.set_xscale("log")
    axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axis.minorticks_off()
    axis.set_xlabel("compression factor (features / cells)")
    axis.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))


def _fig1a(rows: list[Row], axes: list[Any]) -> None:
    _success(axes[0], rows, "compression")
    _compressions(axes[0], rows)


def _fig1b(rows: list[Row], axes: list[Any]) -> None:
    axis = axes[0]
    for name, points in _results(rows).items():
        error = [max(value, SMALLEST_ERROR) for value in _numbers(points, "l2_error")]
        if len(points) == 1 and points[0]["learner"] in ("sgd", "olbfgs"):
            axis.axhline(error[0], **{**_style(name), "marker": ""})
        else:
            axis.plot(_numbers(points, "compression"), error, **_style(name))
    axis.set_yscale("log")
    axis.set_ylabel("mean l2 error of the selected weights")
    _compressions(axis, rows)


def _fig1c(rows: list[Row], axes: list[Any]) -> None:
    constant = [row for row in rows if row["automatic"] == "False"]
    automatic = [row for row in rows if row["automatic"] == "True"]
    for axis, part, label in (
        (axes[0], constant, "constant step"),
        (axes[1], automatic, "fraction phi of the automatic step"),
    ):
        _success(axis, part, "step")
        axis.set_xscale("log")
        axis.set_xlabel(label)
        axis.legend(fontsize=7)


def _noise(rows: list[Row], axes: list[Any]) -> None:
    _success(axes[0], rows, "noise")
    axes[0].set_xlabel("standard deviation of the label noise (compression 3)")
    axes[0].legend(fontsize=7)


def _checks(rows: list[Row], axes: list[Any]) -> None:
    axis = axes[0]
    for at, row in enumerate(reversed(rows)):
        low, high = float(row["low"]), float(row["high"])
        axis.plot([low, high], [at, at], color="#DDDDDD", linewidth=6, solid_capstyle="butt")
        style = {**_style(row["series"]), "linestyle": "", "label": None}
        axis.errorbar(float(row["success"]), at, xerr=float(row["success_se"]), **style)
    labels = [_check_label(row) for row in reversed(rows)]
    axis.set_yticks(range(len(rows)), labels, fontsize=7)
    axis.set_xlim(-0.04, 1.06)
    axis.set_xlabel("share of trials that found all (grey: required)")


def _check_label(row: Row) -> str:
    step = "auto" if row["automatic"] == "True" else f"step {float(row['step']):g}"
    return f"{row['series']}, CF {float(row['compression']):g}, {step}"


def _theorem1(rows: list[Row], axes: list[Any]) -> None:
    from matplotlib import colormaps

    depths = sorted({int(row["depth"]) for row in rows})
    shades = colormaps["viridis"]([i / len(depths) for i in range(len(depths))])
    for axis, query in zip(axes, ("median", "mean"), strict=True):
        for depth, shade in zip(depths, shades, strict=True):
            part = [r for r in rows if r["query"] == query and int(r["depth"]) == depth]
            style = {"color": shade, "marker": "o", "markersize": 3}
            axis.plot(
                _numbers(part, "width"),
                _numbers(part, "error_all"),
                label=f"depth {depth}",
                **style,
            )
        axis.plot(
            _numbers(part, "width"), _numbers(part, "bound"), "k--", label="8 |tail| / sqrt(width)"
        )
        axis.set_xscale("log", base=2)
        axis.set_yscale("log")
        axis.set_xlabel("width")
        axis.set_title(f"{query} query", fontsize=9)
        axis.set_ylabel("largest error of all estimates")
        axis.legend(fontsize=7)
    axes[1].sharey(axes[0])
    axes[1].autoscale(axis="y")


def _theorem2(rows: list[Row], axes: list[Any]) -> None:
    for axis, size in zip(axes, ("10", "50"), strict=True):
        for name, points in _results(r for r in rows if r["batch_size"] == size).items():
            first = points[0]
            interval = f"{float(first['slope_low']):.2f} to {float(first['slope_high']):.2f}"
            label = f"{name.split(', batches')[0]}: {float(first['slope']):.2f} ({interval})"
            style = {**_style(name), "label": label, "linestyle": "-"}
            axis.plot(_numbers(points, "t"), _numbers(points, "gap"), **style)
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_xlabel("minibatch t")
        axis.set_ylabel("loss gap to the best of the storage")
        axis.set_title(f"batches of {size}; slope over the last decade", fontsize=9)
        axis.legend(fontsize=7)


def _by_dataset(rows: list[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["dataset"], []).append(row)
    return found


def _n_datasets(rows: list[Row]) -> int:
    return len(_by_dataset(rows))


def _scores(axis: Any, rows: list[Row], x: str) -> None:
    """Scores with their spread over seeds, one line per series."""
    for name, points in _results(row for row in rows if row["score"]).items():
        if points[0]["learner"] in ("sgd", "olbfgs"):
            axis.axhline(float(points[0]["score"]), **{**_style(name), "marker": ""})
            continue
        bars = {"yerr": _numbers(points, "sd"), "capsize": 2, "elinewidth": 0.7}
        axis.errorbar(_numbers(points, x), _numbers(points, "score"), **bars, **_style(name))
    axis.set_xscale("log")
    axis.set_title(rows[0]["dataset"], fontsize=9)
    axis.set_ylabel("AUC" if rows[0]["metric"] == "auc" else "accuracy")


def _common_legend(axes: list[Any]) -> None:
    """One legend below all panels."""
    lines = {
        label: line
        for axis in axes
        for line, label in zip(*axis.get_legend_handles_labels(), strict=True)
    }
    if lines:
        place = {"loc": "outside lower center", "ncols": 5, "fontsize": 8}
        axes[0].figure.legend(lines.values(), lines.keys(), **place)


def _fig2(rows: list[Row], axes: list[Any]) -> None:
    for axis, part in zip(axes, _by_dataset(rows).values(), strict=True):
        _scores(axis, part, "compression")
        axis.set_xlabel("compression factor (bytes); all active features")
    _common_legend(axes)


def _fig3(rows: list[Row], axes: list[Any]) -> None:
    for axis, part in zip(axes, _by_dataset(rows).values(), strict=True):
        _scores(axis, part, "k")
        axis.set_xlabel(f"k, at compression {float(part[0]['compression']):g}; selected only")
    _common_legend(axes)


def _equal_bytes(rows: list[Row], axes: list[Any]) -> None:
    parts = list(_by_dataset(rows).values())
    for i, part in enumerate(parts):
        for axis, read_out in zip(axes[2 * i : 2 * i + 2], ("all", "selected"), strict=True):
            _scores(axis, [row for row in part if row["read_out"] == read_out], "compression")
            axis.set_xlabel("compression factor (bytes)")
            axis.set_title(f"{part[0]['dataset']}, {read_out}", fontsize=9)
    _common_legend(axes)


Drawing = Callable[[list[Row], list[Any]], None]
DRAWINGS: dict[str, tuple[Drawing, int | Callable[[list[Row]], int]]] = {
    "fig2": (_fig2, _n_datasets),
    "fig3": (_fig3, _n_datasets),
    "equal-bytes": (_equal_bytes, lambda rows: 2 * _n_datasets(rows)),
    "fig1a": (_fig1a, 1),
    "fig1b": (_fig1b, 1),
    "fig1c": (_fig1c, 2),
    "noise": (_noise, 1),
    "checks": (_checks, 1),
    "theorem1": (_theorem1, 2),
    "theorem2": (_theorem2, 2),
}
