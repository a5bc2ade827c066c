"""
What gives a phishing address away
==================================

Addresses as all runs of three to five characters: a million different ones in the data. How much
memory does it take to tell phishing from honest pages, and which runs tell?
"""

import matplotlib.pyplot as plt
from example_data import urls

from bearsketch import make_learner, open_stream

train, test = urls()
reading = {"format": "jsonl", "char_ngrams": (3, 5), "ngrams": None, "lowercase": False}


def accuracy(learner, selected_only):
    """Share of the test addresses told right."""
    right = total = 0
    with open_stream(test, labels="name", **reading) as stream:
        for batch in stream:
            guess = learner.predict(batch, selected_only=selected_only)
            right += (guess == batch.labels).sum()
            total += len(batch)
    return right / total


# %%
# One model for each budget, from 4 KiB to 1 MiB. A quarter of it goes to the selected features,
# up to 1,000 of them.

budgets = [4, 16, 64, 256, 1024]
models = {}
for kib in budgets:
    models[kib] = make_learner(memory=f"{kib}KiB", classes=["honest", "phishing"])
    with open_stream(train, labels="name", **reading) as stream:
        for batch in stream:
            models[kib].learn(batch)
everything = [accuracy(models[kib], False) for kib in budgets]
selected = [accuracy(models[kib], True) for kib in budgets]
for kib, a, b in zip(budgets, everything, selected, strict=True):
    print(f"{kib:5} KiB: {a:.3f} with all features, {b:.3f} with the selected alone")

# %%
# The runs of characters that weigh most. ``^`` and ``$`` mark where an address starts and ends.

best = list(models[1024].selected())[:24]
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 5), layout="constrained")
left.plot(budgets, everything, "o-", color="#1d4ed8", label="all features")
left.plot(budgets, selected, "o--", color="#b4530a", label="selected alone")
left.set(xscale="log", xticks=budgets, xlabel="model, KiB", ylabel="accuracy")
left.set_xticklabels(budgets)
left.minorticks_off()
left.legend(frameon=False)
left.set_title("accuracy by memory")
runs = [feature.name.removeprefix("text^#") for feature in best]  # characters of the field text
names = [run.replace("$", r"\$") for run in runs]
weights = [feature.weight for feature in best]
colours = ["#c2410c" if w > 0 else "#0b7285" for w in weights]
right.barh(range(len(names)), weights, color=colours)
right.set_yticks(range(len(names)), names, family="monospace")
right.invert_yaxis()
right.axvline(0, color="0.4", lw=0.8)
right.set_title("left: honest, right: phishing")
for axis in (left, right):
    axis.spines[["top", "right"]].set_visible(False)
plt.show()
