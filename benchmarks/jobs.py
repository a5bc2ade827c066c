"""What is measured: jobs as snippets of Python, and which job stands beside which.

A job's ``setup`` and ``after`` are not timed; ``after`` may put ``accuracy``, ``loss`` (progressive)
and ``model`` (bytes) into ``said``; the command prints its own. The names of jobs never change, so
that runs can be compared.
"""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.workloads import CSR_FITS


@dataclass(frozen=True)
class Job:
    """Part of a workload: code in which {path} of its data and {folder} are filled in."""

    workload: str
    data: str
    setup: str
    code: str
    after: str = ""


@dataclass(frozen=True)
class Pair:
    """Our job beside a rival's, as a row of the table; ``settings`` are the rival's."""

    title: str
    ours: str
    rival: str
    settings: str


# No job is timed while it imports: here what the command would load on its way, with its one thread
# of matrices.
LOADED = (
    "import contextlib, os\nos.environ['OPENBLAS_NUM_THREADS'] = '1'\n"
    "import bearsketch.reading.native, bearsketch.training.session\n"
    "from bearsketch.cli.app import main"
)
# The models that predict: made once, by the first of the runs.
TRAINED = (
    "\nimport pathlib, subprocess\n"
    "if not pathlib.Path('{folder}/{name}').exists():\n"
    "    subprocess.run([sys.executable, '-c', {make!r}], check=True, stdout=subprocess.DEVNULL)"
)


def command(*words: str) -> str:
    """The command, in this process."""
    listed = ", ".join(repr(word) for word in words)
    return f"sys.argv = ['bearsketch', {listed}]\nwith contextlib.suppress(SystemExit): main()"


def train(workload: str, data: str, *options: str) -> Job:
    """The command ``bearsketch train``, from a file to a model file."""
    words = ("train", "--quiet", "--json", "-o", "{folder}/model.bear", *options, "{path}")
    return Job(workload, data, LOADED, command(*words))


def predict(workload: str, data: str) -> Job:
    """The command ``bearsketch predict``, from a file to a file of predictions."""
    words = ("train", "--quiet", "-o", "{folder}/predict.bear", "{path}")
    make = f"import sys\n{LOADED}\n{command(*words)}"
    setup = LOADED + TRAINED.replace("{name}", "predict.bear").replace("{make!r}", repr(make))
    words = ("predict", "{folder}/predict.bear", "{path}", "-o", "{folder}/ours.tsv", "--quiet")
    return Job(workload, data, setup, command(*words))


WABBIT = "vowpalwabbit.Workspace('-d {path} --loss_function logistic -b 18 --quiet %s')"


def wabbit(workload: str, data: str, floats: int, options: str = "") -> Job:
    """One pass of Vowpal Wabbit over a file; its table holds ``floats`` per weight."""
    return Job(
        workload,
        data,
        "import vowpalwabbit",
        f"vw = {WABBIT % options}\n"
        "loss = vw.get_sum_loss() / vw.get_weighted_examples()\nvw.finish()",
        f"said = dict(loss=loss, model={floats * 4 << 18})",
    )


def wabbit_predicts(workload: str, data: str) -> Job:
    """Predictions of Vowpal Wabbit (``-t``), from a file to a file."""
    make = f"import vowpalwabbit\n{WABBIT % '-f {folder}/predict.vw'}.finish()"
    setup = TRAINED.replace("{name}", "predict.vw").replace("{make!r}", repr(make))
    return Job(
        workload,
        data,
        "import vowpalwabbit" + setup,
        "vowpalwabbit.Workspace("
        "'-d {path} -t -i {folder}/predict.vw -p {folder}/theirs.txt --quiet').finish()",
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
        f"said = dict(accuracy=model.score(T, t), model={size})",
    )


def reading(data: str) -> Job:
    """Reading alone: every batch, and nothing learned."""
    return Job(
        "text",
        data,
        "import bearsketch.reading.native\nfrom bearsketch import open_stream",
        "for batch in open_stream({path!r}, seed=0): pass",
    )


def process(code: str) -> Job:
    """A process from its start to its end; memory is that of the process."""
    return Job(
        "start",
        "few",
        "import resource, subprocess, pathlib\n"
        "bearsketch = str(pathlib.Path(sys.executable).with_name('bearsketch'))",
        f"subprocess.run({code}, check=True, capture_output=True)",
        "said = dict(peak=resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)",
    )


READS = ("--kmer", "12", "--label-regex", r"taxon=(\w+)", "--memory", "16MiB")
JOBS: dict[str, Job] = {
    "bearsketch reads svmlight": reading("svm"),
    "bearsketch reads vw": reading("vw"),
    "scikit-learn load_svmlight_file": Job(
        "text",
        "svm tenth",
        "from sklearn.datasets import load_svmlight_file",
        "load_svmlight_file({path!r})",
    ),
    "bearsketch train bear+ svmlight": train("text", "svm"),
    "bearsketch train bear+ vw": train("text", "vw"),
    "vw logistic -b 18": wabbit("text", "vw", 4),
    "vw logistic -b 18 --sgd": wabbit("text", "vw", 1, "--sgd"),
    "bearsketch predict vw": predict("text", "vw"),
    "vw -t": wabbit_predicts("text", "vw"),
    "bearsketch train bear+ clicks": train("clicks", "clicks"),
    "vw logistic -b 18 clicks": wabbit("clicks", "clicks", 4),
    "vw --invert_hash clicks": wabbit("clicks", "clicks", 4, "--invert_hash {folder}/readable.txt"),
    "river LogisticRegression clicks": Job(
        "clicks",
        "clicks river",
        "import pickle\nfrom river.linear_model import LogisticRegression\n"
        "def row(line):\n"
        "    label, *spaces = line.split('|')\n"
        "    words = [space.split() for space in spaces]\n"
        "    return {{f'{{s[0]}}^{{f}}': 1.0 for s in words for f in s[1:]}}, label[0] == '1'\n"
        "model, hits = LogisticRegression(), 0",
        "for line in open({path!r}):\n"
        "    x, y = row(line)\n    hits += model.predict_one(x) == y\n    model.learn_one(x, y)",
        "said = dict(accuracy=hits / len(list(open({path!r}))), model=len(pickle.dumps(model)))",
    ),
    "SketchClassifier bear+ CSR": fit(
        "from bearsketch import SketchClassifier",
        "SketchClassifier('bear+', passes=1)",
        "model.learner_.config.sizes.model_bytes",
    ),
    "scikit-learn SGDClassifier CSR": fit(
        "from sklearn.linear_model import SGDClassifier",
        "SGDClassifier(loss='log_loss', max_iter=1, tol=None, random_state=0)",
        "model.coef_.nbytes",
    ),
    "bearsketch train bear+ long rows": train("long", "long"),
    "bearsketch train bear+ long rows vw": train("long", "long vw"),
    "vw logistic -b 18 long rows": wabbit("long", "long vw", 4),
    "bearsketch --version": process("[bearsketch, '--version']"),
    "import bearsketch": process("[sys.executable, '-c', 'import bearsketch']"),
    "bearsketch train, 10 lines": process(
        "[bearsketch, 'train', {path!r}, '-o', '{folder}/few.bear', '--quiet']"
    ),
    "vw, 10 lines": process(
        "[sys.executable, '-c', 'import vowpalwabbit; vowpalwabbit.Workspace("
        '"-d {path} --loss_function logistic -b 18 --quiet -f {folder}/few.vw").finish()\']'
    ),
    "import sklearn.linear_model": process("[sys.executable, '-c', 'import sklearn.linear_model']"),
    # Not of the usual run: they have no rival.
    "bearsketch train bear+ reads": train("reads", "reads", *READS),
    "bearsketch train bear+ svmlight, a tenth of the rows": train("memory", "svm tenth"),
    "bearsketch train bear+ svmlight, all rows": train("memory", "svm"),
    "bearsketch train bear+ ids below 2^20": train("memory", "ids 20"),
    "bearsketch train bear+ ids below 2^63": train("memory", "ids 63"),
}
WORKLOADS = tuple(dict.fromkeys(job.workload for job in JOBS.values()))
USUAL = tuple(name for name in WORKLOADS if name not in ("reads", "memory"))

DEFAULT, SGD = "default", "`--sgd`"
PAIRS = (
    Pair("train, VW text", "bearsketch train bear+ vw", "vw logistic -b 18", DEFAULT),
    Pair("train, VW text", "bearsketch train bear+ vw", "vw logistic -b 18 --sgd", SGD),
    Pair(
        "train, svmlight (rival: VW text)",
        "bearsketch train bear+ svmlight",
        "vw logistic -b 18",
        DEFAULT,
    ),
    Pair("train, clicks", "bearsketch train bear+ clicks", "vw logistic -b 18 clicks", "no names"),
    Pair(
        "train, clicks with names",
        "bearsketch train bear+ clicks",
        "vw --invert_hash clicks",
        "`--invert_hash`",
    ),
    Pair(
        "train, clicks with names",
        "bearsketch train bear+ clicks",
        "river LogisticRegression clicks",
        DEFAULT,
    ),
    Pair(
        "train, rows of 3,700 entries, svmlight (rival: VW text)",
        "bearsketch train bear+ long rows",
        "vw logistic -b 18 long rows",
        DEFAULT,
    ),
    Pair(
        "train, rows of 3,700 entries, VW text",
        "bearsketch train bear+ long rows vw",
        "vw logistic -b 18 long rows",
        DEFAULT,
    ),
    Pair("predict, VW text", "bearsketch predict vw", "vw -t", "`-t`"),
    Pair(
        "fit, CSR matrix",
        "SketchClassifier bear+ CSR",
        "scikit-learn SGDClassifier CSR",
        "one epoch",
    ),
    Pair(
        "read svmlight",
        "bearsketch reads svmlight",
        "scikit-learn load_svmlight_file",
        "a tenth of the rows",
    ),
    Pair(
        "read VW text with names (rival: learns too)",
        "bearsketch reads vw",
        "vw logistic -b 18",
        DEFAULT,
    ),
    Pair("start: train on 10 lines", "bearsketch train, 10 lines", "vw, 10 lines", "from Python"),
    Pair("start: import", "import bearsketch", "import sklearn.linear_model", ""),
)
