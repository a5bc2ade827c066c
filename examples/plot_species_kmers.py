"""
K-mers that define a species
============================

Reads of 150 bases from five bacteria. Which k-mers tell them apart, and do the selected ones occur
where they should? Each is looked up again in the whole genomes, which the learner never saw.
"""

import matplotlib.pyplot as plt
import numpy as np
from example_data import genomes, reads

from bearsketch import make_learner, open_stream

K = 11
bases = genomes()
train, test = reads(bases, 40_000, seed=1), reads(bases, 5_000, seed=2)
reading = {"format": "fasta", "kmer": K, "label_regex": r"species=(\w+)"}

# %%
# A k-mer and its reverse complement are one feature. Forty features are selected for each species,
# in 2 MiB.

learner = make_learner(k=40, memory="2MiB", loss="softmax", classes=list(bases), per_class=True)
with open_stream(train, labels="name", **reading) as stream:
    for batch in stream:
        learner.learn(batch)
right = total = 0
with open_stream(test, labels="name", **reading) as stream:
    for batch in stream:
        right += (learner.predict(batch) == batch.labels).sum()
        total += len(batch)
print(f"{right / total:.1%} of {total:,} reads are classified right (chance: {1 / len(bases):.0%})")

# %%
# Map the strongest ones of each species back to the genomes they occur in.

PAIR = str.maketrans("ACGT", "TGCA")


def occurrences(kmer, genome):
    """How often a k-mer or its reverse complement occurs in a genome, per million bases."""
    both = {kmer, kmer.translate(PAIR)[::-1]}
    return sum(genome.count(word) for word in both) / len(genome) * 1e6


shown = []
for species in bases:
    mine = [f for f in learner.selected() if f.label == species and f.weight > 0]
    shown += [(species, f.name) for f in mine[:6]]
table = np.array([[occurrences(kmer, bases[s]) for s in bases] for _, kmer in shown])
for (species, kmer), row in zip(shown, table, strict=True):
    print(f"{kmer}  {species:26}" + "".join(f"{n:9.1f}" for n in row))

# %%
# With the real genomes, the k-mers of *Haemophilus influenzae* hold its uptake signal sequence
# ``AAGTGCGGT`` and those of *Neisseria meningitidis* theirs, ``GCCGTCTGAA``: words these
# bacteria repeat a thousand times to know DNA of their own kind. Nobody told the learner.

figure, axis = plt.subplots(figsize=(8, 8), layout="constrained")
picture = axis.imshow(np.log10(table + 1), aspect="auto", cmap="Blues")
axis.set_yticks(range(len(shown)), [kmer for _, kmer in shown], family="monospace", fontsize=8)
short = [f"{s[0].upper()}. {s.split('_')[1]}" for s in bases]
axis.set_xticks(range(len(short)), short, rotation=20)
for edge in range(1, len(bases)):
    axis.axhline(6 * edge - 0.5, color="white", lw=3)
ticks = [0, 1, 10, 100, 1000]
bar = figure.colorbar(picture, ticks=np.log10(np.array(ticks) + 1), shrink=0.6)
bar.set_ticklabels(ticks)
bar.set_label("occurrences per million bases")
axis.set_title("Selected for a species (rows), found in the genomes (columns)")
plt.show()
