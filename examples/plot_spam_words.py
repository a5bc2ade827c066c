"""
The words that tell spam
========================

Mails as words and pairs of words: about a million possible features. One pass in 128 KiB names
the 300 most telling ones.
"""

import matplotlib.pyplot as plt
from example_data import mails

from bearsketch import SketchClassifier, open_stream

train, test = mails()

# %%
# Learn from the file as it is: JSON Lines with a field ``label`` and a field ``text``. The memory
# is what the model may keep; there is nothing to tune. A word counts once a mail.

reading = {"format": "jsonl", "ngrams": (1, 2)}
spam = SketchClassifier(k=300, memory="128KiB")
spam.fit_stream(train, classes=["ham", "spam"], **reading)

# %%
# How good is it on mails it has not seen?

right = total = 0
with open_stream(test, labels="name", **reading) as stream:
    for batch in stream:
        right += (spam.predict(batch) == batch.labels).sum()
        total += len(batch)
print(f"{right / total:.1%} of {total:,} mails are classified right")

# %%
# And the words, by name. A positive weight speaks for spam.


def bars(axis, names, weights, colour, title):
    """Draw weights as bars, the largest on top."""
    axis.barh(range(len(names)), weights, color=colour)
    axis.set_yticks(range(len(names)), names)
    axis.invert_yaxis()
    axis.set_title(title)
    axis.spines[["top", "right"]].set_visible(False)


words = [name.removeprefix("text^") for name in spam.selected_names_]  # of the field text
pairs = list(zip(words, spam.selected_weights_.ravel(), strict=True))
best = {sign: [(n, sign * w) for n, w in pairs if sign * w > 0][:20] for sign in (1, -1)}
figure, axes = plt.subplots(1, 2, figsize=(9, 5), layout="constrained")
for axis, sign, colour, title in zip(
    axes, (1, -1), ("#c2410c", "#0b7285"), ("speaks for spam", "speaks for ham"), strict=True
):
    names, weights = zip(*best[sign], strict=True)
    bars(axis, [n.replace("$", r"\$") for n in names], weights, colour, title)
plt.show()
