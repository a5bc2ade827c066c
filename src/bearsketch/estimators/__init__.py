"""scikit-learn estimators; importing this package imports scikit-learn."""

from bearsketch.estimators.classifier import SketchClassifier
from bearsketch.estimators.regressor import SketchRegressor
from bearsketch.estimators.selector import SketchSelector

__all__ = ["SketchClassifier", "SketchRegressor", "SketchSelector"]
