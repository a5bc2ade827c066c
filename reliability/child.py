"""A training run that tells how far it is, to be killed: ``train`` as the command line has it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from bearsketch.reading import open_stream
from bearsketch.training.checkpoint import Checkpoints
from bearsketch.training.session import Session

OPTIONS = {"memory": "64KiB", "k": 200, "passes": 2, "holdout": 0.1}
EVERY = 1000  # examples between two checkpoints
ROWS = 240


def main(data: str, folder: str, output: str) -> None:
    kept = Checkpoints(folder, EVERY, resume=True)

    def tell(training: Session) -> None:
        os.write(1, f"{training.learner.counters['examples']}\n".encode())

    with open_stream(data, rows=ROWS, include_unlabelled=False) as stream:
        training = Session(stream, checkpoint=kept, **OPTIONS)
        training.run(tell)
    training.learner.save(Path(output))
    kept.forget()


if __name__ == "__main__":
    main(*sys.argv[1:])
