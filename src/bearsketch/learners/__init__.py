"""Learners: parts by name, the table of recipes, and the object that learns."""

from bearsketch.learners.learner import Learner, Progress, Selected, load, make_learner
from bearsketch.learners.parts import Automatic, Constant, Decaying
from bearsketch.learners.recipes import LEARNERS, RECIPES, Recipe

__all__ = [
    "LEARNERS",
    "RECIPES",
    "Automatic",
    "Constant",
    "Decaying",
    "Learner",
    "Progress",
    "Recipe",
    "Selected",
    "load",
    "make_learner",
]
