"""What is measured, and what it must reach: jobs as snippets of Python, goals as ratios.

A job's ``setup`` and ``after`` are not timed; ``after`` may put ``accuracy``, ``loss`` (progressive)
and ``model`` (bytes) into ``told``; the command prints its own. The names of jobs never change, so
that runs can be compared.
"""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.workloads import CSR_FITS


@dataclass(frozen=True)
class Job:
    """Part of one or more workloads: code in which {path} of its data and {folder} are filled in."""

    workloads: str
    data: str
    setup: str
    code: str
    after: str = ""


@dataclass(frozen=True)
class Goal:
    """Ours against a peer, or alone: ``measure`` is a key of :data:`MEASURES`.

    ``limit`` is to be reached, ``bar`` is the least that will do; None: only looked at.
    """

    ours: str
    peer: str
    measure: str
    limit: float | None
    bar: float | None = None


# Title, sign of the better side, and the figure from ours and the peer's.
MEASURES = {
    "speed": ("times its speed", ">=", lambda a, b: b["seconds per row"] / a["seconds per row"]),
    "time": ("times its time", "<=", lambda a, b: a["seconds per row"] / b["seconds per row"]),
    "memory": ("times its peak memory", "<=", lambda a, b: a["peak"] / b["peak"]),
    "apart": ("MiB apart in peak memory", "<=", lambda a, b: abs(a["peak"] - b["peak"]) / 2**20),
    "peak": ("MiB of peak memory", "<=", lambda a, _: a["peak"] / 2**20),
}


# No job is timed while it imports: here what the command would load on its way, with its one thread
# of matrices.
LOADED = (
    "import contextlib, os\nos.environ['OPENBLAS_NUM_THREADS'] = '1'\n"
    "import bearsketch.reading.native, bearsketch.training.loop\n"
    "from bearsketch.cli.app import main"
)


def train(workloads: str, data: str, *options: str) -> Job:
    """The command ``bearsketch train``, from a file to a model file."""
    arguments = ["train", "--quiet", "--json", "-o", "{folder}/model.bear", *options]
    words = ", ".join(repr(word) for word in arguments)
    return Job(
        workloads,
        data,
        LOADED,
        f"sys.argv = ['bearsketch', {words}, {{path!r}}]\n"
        "with contextlib.suppress(SystemExit): main()",
    )


def wabbit(workloads: str, data: str, floats: int, options: str = "") -> Job:
    """One pass of Vowpal Wabbit over a file; its table holds ``floats`` per weight."""
    return Job(
        workloads,
        data,
        "import vowpalwabbit",
        "vw = vowpalwabbit.Workspace('-d {path} --loss_function logistic -b 18 --quiet "
        f"{options}')\n"
        "loss = vw.get_sum_loss() / vw.get_weighted_examples()\nvw.finish()",
        f"told = dict(loss=loss, model={floats * 4 << 18})",
    )


def fit(imports: str, model: str, size: str) -> Job:
    """Fits of fresh estimators on a matrix in memory, after one on 100 rows."""
    return Job(
        "csr",
        "csr",
        f"import numpy as np\nfrom scipy import sparse\n{imports}\n"
        "X, T = (sparse.load_npz(f'{path}/{{part}}.npz') for part in ('train', 'test'))\n"
        "y, t = (np.load(f'{path}/{{part}}.npy') for part in ('train', 'test'))\n"
        f"{model}.fit(X[:100], y[:100])",
        f"for _ in range({CSR_FITS}): model = {model}.fit(X, y)",
        f"told = dict(accuracy=model.score(T, t), model={size})",
    )


def sketch(learner: str) -> Job:
    return fit(
        "from bearsketch import SketchClassifier",
        f"SketchClassifier({learner!r}, passes=1)",
        "model.learner_.config.sizes.model_bytes",
    )


def reading(data: str) -> Job:
    return Job(
        "rcv1",
        data,
        "import bearsketch.reading.native\nfrom bearsketch import open_stream",
        "for batch in open_stream({path!r}, seed=0): pass",
    )


def river(code: str, after: str, more: str = "") -> Job:
    """River on the same lines: from the file as ours, or on rows made beforehand."""
    return Job(
        "clicks",
        "clicks river",
        "import pickle\nfrom river.linear_model import LogisticRegression\n"
        "def row(line):\n"
        "    label, *spaces = line.split('|')\n"
        "    words = [space.split() for space in spaces]\n"
        "    return {{f'{{s[0]}}^{{f}}': 1.0 for s in words for f in s[1:]}}, label[0] == '1'\n"
        f"model, hits = LogisticRegression(), 0{more}",
        code,
        after,
    )


READS = ("--kmer", "12", "--label-regex", r"taxon=(\w+)", "--memory", "16MiB")
JOBS: dict[str, Job] = {
    "bearsketch reads svmlight": reading("svm"),
    "bearsketch reads vw": reading("vw"),
    "scikit-learn load_svmlight_file": Job(
        "rcv1",
        "svm",
        "from sklearn.datasets import load_svmlight_file",
        "load_svmlight_file({path!r})",
    ),
    "bearsketch train bear+ svmlight": train("rcv1 memory", "svm"),
    "bearsketch train bear+ vw": train("rcv1", "vw"),
    "bearsketch train bear+ vw, 1 thread": train("rcv1", "vw", "--threads", "1"),
    "bearsketch train mission svmlight": train("rcv1", "svm", "--learner", "mission"),
    "vw logistic -b 18": wabbit("rcv1", "vw", 4),
    "vw logistic -b 18 --sgd": wabbit("rcv1", "vw", 1, "--sgd"),
    "bearsketch train bear+ clicks": train("clicks memory", "clicks"),
    "vw --invert_hash clicks": wabbit("clicks", "clicks", 4, "--invert_hash {folder}/readable.txt"),
    "river LogisticRegression clicks": river(
        "for line in open({path!r}):\n"
        "    x, y = row(line)\n    hits += model.predict_one(x) == y\n    model.learn_one(x, y)",
        "told = dict(accuracy=hits / len(list(open({path!r}))), model=len(pickle.dumps(model)))",
    ),
    "river LogisticRegression clicks, learn_one alone": river(
        "for x, y in rows: model.learn_one(x, y)",
        "told = dict(model=len(pickle.dumps(model)))",
        "\nrows = [row(line) for line in open({path!r})]",
    ),
    "bearsketch train bear+ reads": train("reads", "reads", *READS),
    "bearsketch train mission reads": train("reads", "reads", *READS, "--learner", "mission"),
    "SketchClassifier bear+ CSR": sketch("bear+"),
    "SketchClassifier mission CSR": sketch("mission"),
    "scikit-learn SGDClassifier CSR": fit(
        "from sklearn.linear_model import SGDClassifier",
        "SGDClassifier(loss='log_loss', max_iter=1, tol=None, random_state=0)",
        "model.coef_.nbytes",
    ),
    "bearsketch train bear+ long rows": train("long", "long"),
    "bearsketch train mission long rows": train("long", "long", "--learner", "mission"),
    "vw logistic -b 18 long rows": wabbit("long", "long vw", 4),
    "bearsketch train bear+ svmlight, a tenth of the rows": train("memory", "svm tenth"),
    "bearsketch train bear+ clicks, a tenth of the rows": train("memory", "clicks tenth"),
    "bearsketch train bear+ ids below 2^20": train("memory", "ids 20"),
    "bearsketch train bear+ ids below 2^63": train("memory", "ids 63"),
}

GOALS = (
    Goal("bearsketch reads svmlight", "scikit-learn load_svmlight_file", "speed", 10),
    Goal("bearsketch reads vw", "vw logistic -b 18", "speed", 3),
    Goal("bearsketch train bear+ vw", "vw logistic -b 18", "speed", 2, bar=1),
    Goal("bearsketch train bear+ vw", "vw logistic -b 18 --sgd", "speed", 2, bar=1),
    Goal("bearsketch train bear+ vw", "bearsketch train bear+ vw, 1 thread", "speed", 1.4),
    Goal("bearsketch train bear+ svmlight", "bearsketch train mission svmlight", "time", 1.5),
    Goal("bearsketch train bear+ clicks", "vw --invert_hash clicks", "speed", 40),
    Goal("bearsketch train bear+ clicks", "vw --invert_hash clicks", "memory", 0.1),
    *(
        Goal("bearsketch train bear+ clicks", f"river LogisticRegression clicks{how}", "speed", 50)
        for how in ("", ", learn_one alone")
    ),
    Goal("bearsketch train bear+ reads", "bearsketch train mission reads", "time", 1.5),
    Goal("SketchClassifier bear+ CSR", "scikit-learn SGDClassifier CSR", "time", 4),
    Goal("SketchClassifier mission CSR", "scikit-learn SGDClassifier CSR", "time", 2.5),
    Goal("bearsketch train bear+ long rows", "bearsketch train mission long rows", "time", 1.5),
    Goal("bearsketch train bear+ long rows", "vw logistic -b 18 long rows", "speed", None),
    *(Goal(f"bearsketch train bear+ {data}", "", "peak", 64) for data in ("svmlight", "clicks")),
    *(
        Goal(
            f"bearsketch train bear+ {data}",
            f"bearsketch train bear+ {data}, a tenth of the rows",
            "apart",
            2,
        )
        for data in ("svmlight", "clicks")
    ),
    Goal(
        "bearsketch train bear+ ids below 2^63",
        "bearsketch train bear+ ids below 2^20",
        "apart",
        2,
    ),
    Goal("bearsketch train bear+ ids below 2^63", "", "peak", 64),
)
