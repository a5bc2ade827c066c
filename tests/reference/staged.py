"""Twin of the staged direction: the selected as a model of their own, then the cells."""

from __future__ import annotations

import numpy as np


class Staged:
    wants_pair = False
    scaled = True

    def __init__(self, scale: float) -> None:
        self.scale = scale
        self.selected_clock = self.cell_clock = 0.0
        self.log_strength = np.log(0.3)
        self.slope = self.curvature = 0.0

    def direct(self, point):
        self.follow_noise(point)
        inside = point.inside
        present = np.maximum(np.count_nonzero(point.X, axis=0), 1)
        damping = 1.0 / np.maximum(np.sum(point.X**2, axis=0) / present, 1.0)[:, None]
        alone = point.X @ np.where(inside, point.w, 0.0) + point.intercept
        z = np.zeros_like(point.w)
        margins = point.margins
        if inside.any():
            residual = point.loss.residual(alone, point.labels, point.share)
            z = np.where(inside, damping * (point.X.T @ residual), 0.0)
            change = point.X @ z
            step = self.pace(0.5, self.selected_clock, 30) * line_step(point, residual, change)
            heap_width = point.w.shape[1] // point.groups
            self.selected_clock += inside[:, ::heap_width].sum() / point.selected
            z = step * z
            margins = margins - step * change
        residual = point.loss.residual(margins, point.labels, point.share)
        g = np.where(inside, 0.0, damping * (point.X.T @ residual))
        stored, touched = point.storage.reflect(point.keys, g)
        stored = np.where(inside, 0.0, stored)
        along = line_step(point, residual, point.X @ stored)
        self.step = step = self.pace(1.5, self.cell_clock, 10) * along
        if touched:
            self.cell_clock += touched / max(touched, np.count_nonzero(point.storage.cells))
        return z + step * g

    def follow_noise(self, point) -> None:
        part = point.margins - point.intercept
        bend = point.loss.curvature(point.margins, point.share)
        self.slope += 0.05 * (np.sum(point.residual * part) - self.slope)
        along = np.einsum("ia,iab,ib->", part, bend, part)
        self.curvature += 0.05 * (along - self.curvature)
        if self.curvature > 0:
            growth = np.clip(0.2 - self.slope / self.curvature, -1, 3)
            self.log_strength = np.clip(self.log_strength + 0.05 * growth, np.log(0.02), 0)

    def pace(self, phi: float, clock: float, tau: float) -> float:
        return self.scale * np.exp(self.log_strength) * phi / np.sqrt(1 + clock / tau)


def line_step(point, residual, change) -> float:
    slope = np.sum(residual * change)
    bend = point.loss.kmax * point.share @ np.sum(change**2, axis=1)
    return slope / bend if slope > 0 and bend > 0 else 0.0
