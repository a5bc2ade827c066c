"""Speed and memory beside peers. Run its modules from the root: ``python -m benchmarks.run``."""
