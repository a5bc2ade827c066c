"""Dask: moves models and results between the driver and the workers of a cluster."""

from __future__ import annotations

import contextlib
import time
import uuid
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Self

from bearsketch.distributed.blocks import Block
from bearsketch.distributed.pool import PATIENCE, Lost, Serial
from bearsketch.distributed.task import Job, Result, Round, learn_partition
from bearsketch.exceptions import BearError, DistributedError, ModelFileError, ParameterError

_BEAT_SECONDS = 1.0
_LOOK_SECONDS = 1.0


class Cluster(Serial):
    """The workers of a Dask cluster.

    The model of a round is the result of a task, so that a worker that lost it can have it made
    again; each partition is a task that depends on it. Dask runs a task again when its worker
    dies, and gives up after its own number of deaths (``distributed.scheduler.allowed-failures``).

    Parameters
    ----------
    client : distributed.Client
    patience : float
        Seconds of silence of every task after which the cluster counts as lost.
    """

    def __init__(self, client: Any, *, patience: float = PATIENCE, owned: bool = False) -> None:
        self._client, self._patience, self._owned = client, patience, owned
        self._heard = time.monotonic()
        self._beats: dict[int, int] = {}

    @classmethod
    def connect(cls, address: str, *, patience: float = PATIENCE) -> Self:
        """Connect to a scheduler by its address."""
        try:
            import distributed
        except ImportError:
            raise ParameterError(
                "a Dask cluster needs the package distributed, which is not installed",
                hint="Install it with: pip install 'bearsketch[dask]'",
            ) from None
        try:
            client: Any = distributed.Client(  # type: ignore[no-untyped-call]
                address, timeout=patience, set_as_default=False
            )
        except (OSError, TimeoutError, ValueError) as error:
            raise DistributedError(
                f"no Dask scheduler answers at {address} ({error})",
                code="DIST-CONNECT",
                hint="Give the address that the scheduler printed, such as tcp://host:8786.",
            ) from None
        return cls(client, patience=patience, owned=True)

    @property
    def workers(self) -> int:  # type: ignore[override]
        """Threads of the workers there are now, at least 1."""
        threads: dict[str, int] = self._client.nthreads()
        return max(sum(threads.values()), 1)

    def run(self, asked: Round) -> Iterator[Result | Lost]:
        """Learn partitions, in any order; yields each once."""
        suspects = []
        for answer in self._together(asked):
            if isinstance(answer, Lost) and answer.reason.startswith("KilledWorker"):
                suspects.append(answer.partition)
            else:
                yield answer
        # Dask blames all that a dead worker had before it: each is tried once more, by itself.
        for part in suspects:
            yield from self._together(asked._replace(parts=[part]))

    def _together(self, asked: Round) -> Iterator[Result | Lost]:
        import distributed

        name = f"bearsketch-{uuid.uuid4().hex}"  # several clients may use one cluster
        shared = self._client.submit(bytes, asked.model, key=f"{name}-model", pure=False)
        futures = {self._submit(shared, part, asked.job, name): part for part in asked.parts}
        self._heard = time.monotonic()
        self._client.subscribe_topic(name, self._hear)
        try:
            done: Any = distributed.as_completed(  # type: ignore[no-untyped-call]
                futures, loop=self._client.loop
            )
            while not done.is_empty():
                for future in self._wait(done):
                    yield self._take(future, futures[future])
                self._pass_on(asked.beat)
        finally:
            self._client.unsubscribe_topic(name)
            self._client.cancel([*futures, shared], force=True)

    def _submit(self, shared: Any, part: Any, job: Job, name: str) -> Any:
        blocks = []
        if isinstance(part, Block):  # what it needs is made where it is learned
            blocks = self._client.compute(list(part.data))
            part = replace(part, data=())
        key = f"{name}-{part.id}"
        return self._client.submit(
            _learn, shared, part, job, name, *blocks, key=key, pure=False, retries=2
        )

    def _wait(self, done: Any) -> list[Any]:
        """Futures that are done now; waits a little if there is none."""
        until = time.monotonic() + _LOOK_SECONDS
        while time.monotonic() < until:
            ready: list[Any] = done.next_batch(block=False)
            if ready:
                self._heard = time.monotonic()
                return ready
            if time.monotonic() - self._heard > self._patience:
                raise DistributedError(
                    f"the cluster said nothing for {self._patience:g} s",
                    code="DIST-SILENT",
                    hint="Look whether the scheduler and its workers are alive, or raise "
                    "{patience}.",
                )
            time.sleep(0.01)
        return []

    def _hear(self, event: tuple[float, Any]) -> None:
        said = event[1]
        self._heard = time.monotonic()
        self._beats[said["partition"]] = said["examples"]

    def _pass_on(self, beat: Any) -> None:
        while self._beats and beat is not None:
            with contextlib.suppress(KeyError):
                beat(*self._beats.popitem())

    def _take(self, future: Any, part: Any) -> Result | Lost:
        try:
            result: Result | BearError = future.result(timeout=self._patience)
        except Exception as error:
            return Lost(part, f"{type(error).__name__}: {str(error).splitlines()[0]}")
        if isinstance(result, BearError):
            raise result
        return result

    def close(self) -> None:
        """Close the connection if it was opened here; the cluster continues."""
        if self._owned:
            self._client.close(timeout=10)


def _learn(model: bytes, partition: Any, job: Job, topic: str, *blocks: Any) -> Result | BearError:
    """Learn a partition on a worker, and let the client hear of it.

    An error of the data comes back as a result: trying again would not help.
    """
    import distributed

    worker, said = distributed.get_worker(), [0.0]

    def beat(examples: int) -> None:
        if time.monotonic() - said[0] >= _BEAT_SECONDS:
            said[0] = time.monotonic()
            worker.log_event(topic, {"partition": partition.id, "examples": examples})

    if isinstance(partition, Block):
        partition = replace(partition, data=blocks)
    try:
        return learn_partition(model, partition, job, beat)
    except ModelFileError:
        raise  # the model was damaged on its way here
    except BearError as error:
        return error


__all__ = ["Cluster"]
