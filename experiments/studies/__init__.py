"""Comparisons beyond the paper, on real and made-up data: each is a module that prints its table."""
