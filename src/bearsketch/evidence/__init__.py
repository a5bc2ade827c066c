"""Which of the selected names are proven, and at what share of false ones.

The core gathers the evidence while it learns (``core/include/bear/evidence``); here it is saved,
merged and read. ``docs/explanation/evidence.md`` has the theorem and its proof.
"""
