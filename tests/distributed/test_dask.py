"""Dask: the same bytes as one process, whatever happens to its workers."""

from __future__ import annotations

import contextlib
import os
import signal
import time

import numpy as np
import pandas as pd
import pytest

from bearsketch import Batch, SketchClassifier, SketchRegressor, SketchSelector
from bearsketch.distributed import Pool, Serial
from bearsketch.distributed.task import Round
from bearsketch.exceptions import DistributedError, ParameterError, ParseError
from faulty_partitions import Broken, Deadly, Sleepy, as_kind, with_spans

from .conftest import Runs, write_rows

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
pytestmark = [
    pytest.mark.timeout(240),
    # Workers that are killed leave warnings of Dask's own behind.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning"),
]


@contextlib.contextmanager
def local_client(n=2):
    """Client of a cluster of local processes."""
    with (
        distributed.LocalCluster(
            n_workers=n, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def client():
    with local_client() as client:
        yield client


@pytest.fixture
def cluster(client):
    from bearsketch.distributed.dask import Cluster

    return Cluster(client)


@pytest.fixture(scope="module")
def wanted(runs):
    return runs.hash(Serial())


def pids(client):
    return list(client.run(os.getpid).values())


def test_dask_gives_the_bytes_of_one_process(runs, wanted, cluster):
    assert runs.hash(cluster) == wanted


def test_any_order_of_completion_gives_the_same_bytes(runs, wanted, cluster):
    sleepy = with_spans(runs.prepared.plan, lambda _, span: as_kind(span, Sleepy))
    assert runs.hash(cluster, sleepy) == wanted


def test_the_display_hears_of_all_partitions(runs, cluster):
    heard = set()
    runs.hash(cluster, watch=lambda driver: heard.update(driver.running))
    assert heard == {part.id for part in runs.prepared.plan.partitions}


def test_errors_of_data_come_as_they_are(tmp_path, cluster):
    path = write_rows(tmp_path / "rows.vw")
    path.write_bytes(path.read_bytes() + b"nonsense | a\n")
    with pytest.raises(ParseError, match=r"rows.vw:3001:"):
        Runs(path, classes=[-1, 1]).hash(cluster)


def test_a_fault_of_a_task_is_named_with_its_partition(runs, cluster):
    plan = with_spans(
        runs.prepared.plan, lambda part, span: as_kind(span, Broken) if part.id == 5 else span
    )
    with pytest.raises(DistributedError, match=r"partition 5 \(.*RuntimeError: a fault") as caught:
        runs.hash(cluster, plan)
    assert caught.value.exit_code == 8


def test_a_model_that_is_damaged_on_its_way_is_noticed(runs, cluster):
    model = bytearray(runs.prepared.learner.to_bytes())
    model[-1] ^= 1
    parts = runs.prepared.plan.of_round(0)[:1]
    (answer,) = cluster.run(Round(bytes(model), parts, runs.prepared.job))
    assert "its checksum does not match" in answer.reason


def test_killed_workers_leave_no_trace(runs, wanted):
    from bearsketch.distributed.dask import Cluster

    with local_client() as client:
        before, killed = pids(client), []

        def kill(driver):
            if driver.running and len(killed) < 2:
                killed.append(before[len(killed)])
                os.kill(killed[-1], signal.SIGKILL)

        assert runs.hash(Cluster(client), watch=kill) == wanted
        assert len(killed) == 2


def test_a_partition_that_kills_its_workers_is_named(runs):
    from bearsketch.distributed.dask import Cluster

    plan = with_spans(
        runs.prepared.plan, lambda part, span: as_kind(span, Deadly) if part.id == 1 else span
    )
    span = plan.partitions[1].spans[0]
    # Others that its workers had before them are not to blame.
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        local_client() as client,
        pytest.raises(DistributedError) as caught,
    ):
        runs.hash(Cluster(client), plan)
    assert f"partition 1 ({span.name}:{span.offset})" in str(caught.value)
    assert "KilledWorker" in str(caught.value)
    assert caught.value.exit_code == 8


def test_a_cluster_that_says_nothing_is_given_up(runs):
    from bearsketch.distributed.dask import Cluster

    with local_client(1) as client:
        (pid,) = pids(client)
        os.kill(pid, signal.SIGSTOP)
        start = time.monotonic()
        try:
            with pytest.raises(DistributedError, match="said nothing for 2 s") as caught:
                runs.hash(Cluster(client, patience=2.0))
        finally:
            os.kill(pid, signal.SIGCONT)
        assert time.monotonic() - start < 30
        assert caught.value.code == "DIST-SILENT"


def test_nobody_at_the_address():
    from bearsketch.distributed.dask import Cluster

    with pytest.raises(DistributedError, match="no Dask scheduler answers") as caught:
        Cluster.connect("tcp://127.0.0.1:9", patience=1.0)
    assert caught.value.exit_code == 8


ESTIMATOR = {"k": 10, "memory": "2KiB"}


def test_an_estimator_fits_files_with_a_client(rows, client):
    options = {"client": client, "shards": 3, "rounds": 4}
    one = SketchClassifier(**ESTIMATOR).fit_stream(str(rows), **options)
    two = SketchClassifier(**ESTIMATOR).fit_stream(str(rows), **{**options, "client": Serial()})
    assert one.classes_.tolist() == [-1, 1]
    assert one.learner_.to_bytes() == two.learner_.to_bytes()
    assert set(one.selected_names_) == {f"w{i}" for i in range(10)}
    test = [["w3", "w100"], ["w200", "w100"]]
    assert one.predict(test).tolist() == [1, -1]


def test_an_estimator_keeps_words_as_classes(tmp_path):
    path = tmp_path / "words.tsv"
    path.write_text("label\tword\n" + "spam\tfree\nham\tlunch\neggs\tyolk\n" * 200)
    fitted = SketchClassifier(**ESTIMATOR).fit_stream(str(path), client=Serial())
    assert fitted.classes_.tolist() == ["eggs", "ham", "spam"]
    assert fitted.predict([["word=free"]]).tolist() == ["spam"]


def test_an_estimator_with_a_client_warns_as_without(tmp_path):
    path = tmp_path / "sorted.csv"
    rows = [f"{'?' if i == 9 else i % 5},w{i // 600},{'ab'[i // 600]}\n" for i in range(1200)]
    path.write_text("n,word,label\n" + "".join(rows))
    with (
        pytest.warns(UserWarning, match="labels come in long runs") as found,
        pytest.warns(UserWarning, match="column 'n' is read as categories"),
    ):
        SketchClassifier(**ESTIMATOR).fit_stream(str(path), client=Serial())
    assert [odd.filename for odd in found] == [__file__]


def test_regression_and_selection_take_a_client(rows):
    regressor = SketchRegressor(**ESTIMATOR).fit_stream(str(rows), client=Serial())
    assert regressor.learner_.config.loss == "squared"
    selector = SketchSelector(**ESTIMATOR).fit_stream(str(rows), client=Serial())
    assert len(selector.selected_names_) == 10


def test_another_client_is_refused(rows):
    with pytest.raises(ParameterError, match=r"client must be a distributed\.Client"):
        SketchClassifier().fit_stream(str(rows), client="tcp://somewhere")


def words_of(rows):
    lines = [line.split(" | ") for line in rows.read_text().splitlines()]
    return [(text.split(), int(label)) for label, text in lines]


def fitted(source, client, **options):
    return SketchClassifier(**ESTIMATOR).fit_stream(source, client=client, **options)


def test_a_bag_of_lines(rows, client):
    import dask.bag

    bag = dask.bag.from_sequence(rows.read_text().splitlines(), npartitions=6)
    found = fitted(bag, client, format="vw", shards=3)
    assert set(found.selected_names_) == {f"w{i}" for i in range(10)}
    assert found.learner_.counters["examples"] == 3000


def test_a_bag_of_pairs_and_of_batches_are_the_same(rows, client):
    import dask.bag

    pairs = words_of(rows)
    bag = dask.bag.from_sequence(pairs, npartitions=6)
    parts = [pairs[i : i + 500] for i in range(0, 3000, 500)]
    batches = [Batch.from_rows([r for r, _ in p], [label for _, label in p]) for p in parts]
    other = dask.bag.from_sequence(batches, npartitions=6)
    one, two = (fitted(source, client, shards=3) for source in (bag, other))
    assert one.learner_.to_bytes() == two.learner_.to_bytes()
    assert set(one.selected_names_) == {f"w{i}" for i in range(10)}


def test_a_data_frame(client):
    import dask.dataframe

    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"city": rng.choice(["rome", "oslo", "bern"], 3000), "age": rng.random(3000)}
    )
    table["label"] = np.where(table.city == "rome", 1, 0)
    frame = dask.dataframe.from_pandas(table, npartitions=6)
    found = fitted(frame, client, shards=3)
    assert "city=rome" in found.selected_names_
    assert found.learner_.counters["examples"] == 3000


@pytest.mark.parametrize("sparse", [False, True])
def test_arrays(client, sparse):
    import dask.array
    import scipy.sparse

    rng = np.random.default_rng(0)
    X = (rng.random((3000, 50)) < 0.1) * 1.0
    y = np.where(X[:, :5].sum(axis=1) > 0, 1, 0)
    blocks = dask.array.from_array(X, chunks=(500, 50))
    if sparse:
        blocks = blocks.map_blocks(scipy.sparse.csr_matrix)
    found = fitted((blocks, dask.array.from_array(y, chunks=500)), client, shards=3)
    assert set(range(5)) <= set(found.selected_indices_.tolist())
    assert found.learner_.counters["examples"] == 3000


def test_arrays_that_are_cut_differently_are_refused(client):
    import dask.array

    X = dask.array.zeros((100, 10), chunks=(50, 5))
    y = dask.array.zeros(100, chunks=50)
    with pytest.raises(ParameterError, match="X must be cut along its rows only"):
        fitted((X, y), client)


def test_blocks_of_something_else_are_refused(client):
    import dask.bag

    bag = dask.bag.from_sequence([1, 2, 3], npartitions=1)
    with pytest.raises(ParameterError, match="blocks must hold Batch, lines of text"):
        fitted(bag, client)


def test_a_pool_runs_an_estimator(rows):
    with Pool(2) as pool:
        found = fitted(str(rows), pool, shards=3, rounds=2)
    assert found.learner_.counters["examples"] == 3000
