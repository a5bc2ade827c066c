"""The campaign that proves what the package promises; see docs/explanation/reliability.md."""
