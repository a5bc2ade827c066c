"""Sphinx configuration."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import command_pages
import reference_pages

import bearsketch
from bearsketch import model_file

project = "bearsketch"
author = "the bearsketch authors"
copyright = author
release = bearsketch.__version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
]
myst_heading_anchors = 3
myst_enable_extensions = ["substitution"]
myst_substitutions = {"format_version": str(model_file.FORMAT_VERSION)}
html_theme = "pydata_sphinx_theme"
html_theme_options = {
    "show_prev_next": False,
    "navbar_align": "left",
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": [],
    "footer_end": [],
}
html_sidebars = {"index": [], "tutorial": []}
html_title = "bearsketch"
html_static_path = ["figures", "site"]
html_css_files = ["site.css"]
html_extra_path = ["extra", "reference/results.schema.json"]
autodoc_typehints = "none"
exclude_patterns = ["_build", "examples/README.txt", "reference/exit-codes.md"]
nitpicky = False
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "examples",
    "filename_pattern": r"plot_",
    "ignore_pattern": r"example_data\.py",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 10_000,
    "write_computation_times": False,
    "copyfile_regex": r"example_data\.py",
    "abort_on_example_error": True,
}
linkcheck_timeout = 20
linkcheck_anchors = False


def setup(app):
    """Write the generated pages before Sphinx reads."""
    command_pages.write(Path(__file__).parent / "reference" / "commands.md")
    command_pages.write_tables(Path(__file__).parent / "reference")
    reference_pages.write(Path(__file__).parent / "reference")
