"""Types of the compiled core."""

from typing import Any

import numpy as np
import numpy.typing as npt

class Diverged(ArithmeticError): ...

class Counters:
    examples: int
    batches: int
    passes: int
    @property
    def gradient_norm(self) -> float: ...
    @property
    def step_size(self) -> float: ...

class Guards:
    uphill: int
    flat_pairs: int
    damped_pairs: int
    rejected_pairs: int
    stored_pairs: int

class Learner:
    intercept: list[float]
    name_collisions: int
    def __init__(self, recipe: dict[str, Any]) -> None: ...
    @property
    def classes(self) -> int: ...
    @property
    def groups(self) -> int: ...
    @property
    def counters(self) -> Counters: ...
    @property
    def guards(self) -> Guards: ...
    def learn(
        self,
        indptr: npt.NDArray[np.int64],
        keys: npt.NDArray[np.uint64],
        values: npt.NDArray[np.float32],
        labels: npt.NDArray[np.float64],
        weights: npt.NDArray[np.float64] | None,
        name_data: npt.NDArray[np.uint8] | None,
        name_offsets: npt.NDArray[np.uint64] | None,
    ) -> tuple[float, float, npt.NDArray[np.float64]]: ...
    def predict(
        self,
        indptr: npt.NDArray[np.int64],
        keys: npt.NDArray[np.uint64],
        values: npt.NDArray[np.float32],
        selected_only: bool,
        means: bool,
    ) -> npt.NDArray[np.float64]: ...
    def query(self, keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.float64]: ...
    def merge(self, other: Learner, mine: float, theirs: float) -> None: ...
    def finish_pass(self) -> None: ...
    def selected(self, group: int) -> dict[str, Any]: ...
    def restore_selected(
        self,
        group: int,
        keys: npt.NDArray[np.uint64],
        weights: npt.NDArray[np.float64],
        names: list[bytes],
        aliases: list[bytes],
    ) -> None: ...
    def cells(self) -> bytes: ...
    def restore_cells(self, cells: bytes) -> None: ...
    def numbers(self) -> tuple[list[float], list[float]]: ...
    def restore_numbers(self, storage: list[float], direction: list[float]) -> None: ...
    def fill(self) -> dict[str, float]: ...

def hash_names(names: list[bytes], seed: int) -> npt.NDArray[np.uint64]: ...
def check_rows(
    indptr: npt.NDArray[np.int64],
    keys: npt.NDArray[np.uint64],
    values: npt.NDArray[np.float32],
    weights: npt.NDArray[np.float64] | None,
    name_data: npt.NDArray[np.uint8] | None,
    name_offsets: npt.NDArray[np.uint64] | None,
) -> None: ...
