"""Slow, plain NumPy twins of every part and of the one loop: what the compiled core must match."""
