"""Score examples with a model that ``bearsketch export --to json`` wrote; nothing to install."""

import json
import math
import pathlib
import sys


def load(path):
    """Give (classes, intercept, weights by name, values of names that an example lacks)."""
    model = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    fit = model["calibration"] or {"slope": 1.0, "offset": 0.0}
    slope, offset = fit["slope"], fit["offset"]
    weights = {e["name"]: [slope * w for w in e["weights"]] for e in model["features"]}
    weights |= {second: weights[first] for second, first in model["aliases"].items()}
    absent = {entry["name"]: entry["absent"] for entry in model["features"] if "absent" in entry}
    intercept = [slope * constant + offset for constant in model["intercept"]]
    return model["classes"], intercept, weights, absent


def score(example, classes, intercept, weights, absent):
    """Give the number, or label -> probability, of an example: a dict of name -> value."""
    margins = list(intercept)
    for name, value in {**absent, **example}.items():
        for column, weight in enumerate(weights.get(name, ())):
            margins[column] += weight * value
    if classes is None:
        return margins[0]
    if len(margins) == 1:
        margins = [0.0, margins[0]]
    top = max(margins)
    shares = [math.exp(margin - top) for margin in margins]
    return {label: share / sum(shares) for label, share in zip(classes, shares, strict=True)}


if __name__ == "__main__":
    model = load(sys.argv[1])
    for line in sys.stdin:
        print(json.dumps(score(json.loads(line), *model)))
