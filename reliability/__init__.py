"""The campaign that proves what the package promises; see docs/reliability.md."""
