"""One self-contained page about one model, or several side by side."""

from bearsketch.report.page import render
from bearsketch.report.subject import Subject

__all__ = ["Subject", "render"]
