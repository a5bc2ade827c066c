"""Learners: parts by name, the table of recipes, and the object that learns."""

from bearsketch.learners.learner import Learner, Progress
from bearsketch.learners.make import load, make_learner
from bearsketch.learners.parts import Automatic, Constant, Decaying
from bearsketch.learners.recipes import LEARNERS, RECIPES, Recipe
from bearsketch.learners.selected import Feature, Selected

__all__ = [
    "LEARNERS",
    "RECIPES",
    "Automatic",
    "Constant",
    "Decaying",
    "Feature",
    "Learner",
    "Progress",
    "Recipe",
    "Selected",
    "load",
    "make_learner",
]
