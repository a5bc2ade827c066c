"""The BEAR paper's simulations, figures and tables: runs write tables, figures only read them.

Not part of the installed package. Run ``python -m experiments`` from the root of the repository.
"""
