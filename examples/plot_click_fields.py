"""
Which fields make a click
=========================

A log of advertisements as it comes: CSV with categories. Every ``column=value`` is a feature, and
the selected ones show which columns matter and which values in them.
"""

from collections import defaultdict

import matplotlib.pyplot as plt
from example_data import clicks

from bearsketch import SketchClassifier, open_stream

train, tests, columns = clicks()
reading = {
    "format": "csv",
    "label_column": "click",
    "drop": ("id", "hour"),
    "categorical": ("*",),
}

# %%
# One pass, 64 KiB. The test files have no header, so the columns are named.

ctr = SketchClassifier(k=200, memory="64KiB", learner="bear+").fit_stream(train, **reading)

scores, truth = [], []
with open_stream(tests, header=False, columns=tuple(columns), **reading) as stream:
    for batch in stream:
        scores += ctr.predict_proba(batch)[:, 1].tolist()
        truth += (batch.labels > 0).tolist()
pairs = sorted(zip(scores, truth, strict=True))
positive = sum(truth)
ranks = sum(rank for rank, (_, clicked) in enumerate(pairs, start=1) if clicked)
auc = (ranks - positive * (positive + 1) / 2) / (positive * (len(truth) - positive))
print(f"AUC {auc:.3f} on {len(truth):,} advertisements, {positive / len(truth):.1%} clicked")

# %%
# Weight by column, and the strongest values.

weight_of = defaultdict(float)
for name, weight in zip(ctr.selected_names_, ctr.selected_weights_.ravel(), strict=True):
    weight_of[name.partition("=")[0]] += abs(weight)
fields = sorted(weight_of, key=weight_of.get)[-12:]
best = list(zip(ctr.selected_names_, ctr.selected_weights_.ravel(), strict=True))[:20]

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
left.barh(fields, [weight_of[f] for f in fields], color="#475569")
left.set_title("weight of the selected, by column")
names = [name if len(name) < 28 else name[:25] + "..." for name, _ in best]
weights = [weight for _, weight in best]
right.barh(range(20), weights, color=["#0b7285" if w > 0 else "#c2410c" for w in weights])
right.set_yticks(range(len(names)), names, fontsize=8)
right.invert_yaxis()
right.axvline(0, color="0.4", lw=0.8)
right.set_title("speaks against a click | for a click")
for axis in (left, right):
    axis.spines[["top", "right"]].set_visible(False)
plt.show()
