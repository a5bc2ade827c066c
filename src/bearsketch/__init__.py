"""The k most predictive features by name, from one pass over a stream, in a memory budget."""

__version__ = "0.1.0"
