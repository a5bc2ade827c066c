"""Training beyond one process: a plan, pure tasks, any engine."""

from bearsketch.distributed.driver import Driver
from bearsketch.distributed.pool import Pool, Serial
from bearsketch.distributed.shards import DEFAULT_SHARDS, Partition, Plan, Span, make_plan
from bearsketch.distributed.task import Job, Result, learn_partition

__all__ = [
    "DEFAULT_SHARDS",
    "Driver",
    "Job",
    "Partition",
    "Plan",
    "Pool",
    "Result",
    "Serial",
    "Span",
    "learn_partition",
    "make_plan",
]
