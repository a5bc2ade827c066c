"""The command line: arguments in, library calls out."""
