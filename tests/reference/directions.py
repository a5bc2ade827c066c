"""Twins of the directions: the gradient, the textbook two loops of L-BFGS, exact Newton."""

from __future__ import annotations

from collections import deque

import numpy as np


class Gradient:
    wants_pair = False

    def direct(self, point):
        return point.g.copy()


class Newton:
    """Least-norm solution of H z = g on the active set, H = X'DX the Hessian of the batch.

    With A = D^(1/2) X this is least squares: z = pinv(A) D^(-1/2) r, damped by a tiny ridge.
    """

    wants_pair = False
    ridge = 1e-9  # of the mean curvature of the examples, as the core states

    def direct(self, point):
        classes = point.g.shape[1]
        values, vectors = np.linalg.eigh(point.loss.curvature(point.margins, point.share))
        keep = values > 1e-14 * values.max(axis=1, keepdims=True)
        root = np.sqrt(np.where(keep, values, 0.0))
        inverse_root = np.where(keep, 1.0 / np.where(keep, root, 1.0), 0.0)
        target = inverse_root * np.einsum("iba,ib->ia", vectors, point.residual)
        A = np.einsum("ik,ica,ia->iakc", point.X, vectors, root).reshape(target.size, -1)
        U, s, V = np.linalg.svd(A, full_matrices=False)
        trace = np.sum(s**2)
        ridge = self.ridge * (trace / target.size if trace > 0 else 1.0)
        # What the batch says nothing about stays where it is.
        inverse = np.where(s > 1e-14 * s.max(initial=0.0), s / (s**2 + ridge), 0.0)
        z = V.T @ (inverse * (U.T @ target.ravel()))
        return z.reshape(-1, classes)


class Lbfgs:
    """Two loops over the last pairs, as vectors over every key there is.

    A pair is a dictionary from keys to weights; keys a vector does not name are zero.
    """

    def __init__(self, history: int) -> None:
        self.pairs: deque[tuple[dict, dict]] = deque(maxlen=history or None)
        self.wants_pair = history > 0
        self.mean_curvature = 0.0
        self.counts = dict.fromkeys(("flat", "damped", "rejected", "stored"), 0)

    def direct(self, point):
        z = two_loops(as_dict(point.keys, point.g), list(self.pairs))
        return np.array([z[key] for key in point.keys])

    def observe(self, keys, s, r) -> None:
        ss, rr = np.sum(s * s), np.sum(r * r)
        if not (0 < ss < np.inf and 0 < rr < np.inf):
            self.counts["flat"] += 1
            return
        kappa = np.sum(r * s) / ss
        seen = max(kappa, 0.0)
        rate = 0.05 if self.mean_curvature else 1.0
        self.mean_curvature += rate * (seen - self.mean_curvature)
        if kappa < 0.2 * self.mean_curvature:
            theta = 0.8 * self.mean_curvature / (self.mean_curvature - kappa)
            r = theta * r + (1 - theta) * self.mean_curvature * s
            self.counts["damped"] += 1
        if np.sum(r * s) <= 1e-10 * ss:
            self.counts["rejected"] += 1
            return
        self.pairs.append((as_dict(keys, s), as_dict(keys, r)))
        self.counts["stored"] += 1


def as_dict(keys, rows) -> dict:
    return {key: row.copy() for key, row in zip(keys, rows, strict=True)}


def dot(a: dict, b: dict) -> float:
    return float(sum(np.dot(a[key], b[key]) for key in a.keys() & b.keys()))


def plus(a: dict, c: float, b: dict) -> dict:
    """a + c b"""
    total = {key: row.copy() for key, row in a.items()}
    for key, row in b.items():
        total[key] = total.get(key, 0.0) + c * row
    return total


def two_loops(g: dict, pairs: list[tuple[dict, dict]]) -> dict:
    """Nocedal and Wright, algorithm 7.4; the last pair is the newest."""
    if not pairs:
        return g
    q, alphas = g, []
    for s, r in reversed(pairs):
        alphas.append(dot(s, q) / dot(s, r))
        q = plus(q, -alphas[-1], r)
    s, r = pairs[-1]
    z = plus({}, dot(s, r) / dot(r, r), q)
    for (s, r), alpha in zip(pairs, reversed(alphas), strict=True):
        z = plus(z, alpha - dot(r, z) / dot(s, r), s)
    return z
