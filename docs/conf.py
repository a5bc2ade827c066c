"""Sphinx configuration."""

import bearsketch

project = "bearsketch"
author = "the bearsketch authors"
copyright = author
release = bearsketch.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_heading_anchors = 3
html_theme = "pydata_sphinx_theme"
html_title = "bearsketch"
autodoc_typehints = "none"
exclude_patterns = ["_build"]
nitpicky = False
