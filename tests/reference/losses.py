"""Twins of the losses: value, gradient by the margins, curvature, all averaged over the weight."""

from __future__ import annotations

import numpy as np


class Squared:
    kmax = 1.0

    def curvature_at(self, means):
        return 1.0

    def value(self, margins, labels, share):
        return float(share @ (margins[:, 0] - labels) ** 2) / 2

    def residual(self, margins, labels, share):
        return (share * (margins[:, 0] - labels))[:, None]

    def curvature(self, margins, share):
        return share[:, None, None]

    def margins_of(self, means):
        return means


class Logistic:
    kmax = 0.25

    def curvature_at(self, means):
        return means[0] * (1 - means[0])

    def value(self, margins, labels, share):
        return float(share @ (np.logaddexp(0.0, margins[:, 0]) - labels * margins[:, 0]))

    def residual(self, margins, labels, share):
        # p - y without the cancellation of p near 1.
        toward = np.where(labels > 0, 1.0, -1.0)
        return (-share * toward * _sigmoid(-toward * margins[:, 0]))[:, None]

    def curvature(self, margins, share):
        return (share * _sigmoid(margins[:, 0]) * _sigmoid(-margins[:, 0]))[:, None, None]

    def margins_of(self, means):
        return np.log(means / (1.0 - means))


class Softmax:
    kmax = 0.5

    def curvature_at(self, means):
        return np.sum(means * (1 - means)) / (len(means) - 1)

    def value(self, margins, labels, share):
        p = self._probabilities(margins)
        return float(-share @ np.log(p[np.arange(len(labels)), labels.astype(int)]))

    def residual(self, margins, labels, share):
        p = self._probabilities(margins)
        p[np.arange(len(labels)), labels.astype(int)] -= 1.0
        return share[:, None] * p

    def curvature(self, margins, share):
        p = self._probabilities(margins)
        blocks = np.einsum("ia,ab->iab", p, np.eye(p.shape[1])) - np.einsum("ia,ib->iab", p, p)
        return share[:, None, None] * blocks

    def margins_of(self, means):
        return np.log(means) - np.mean(np.log(means))

    @staticmethod
    def _probabilities(margins):
        p = np.exp(margins - margins.max(axis=1, keepdims=True))
        return p / p.sum(axis=1, keepdims=True)


def _sigmoid(margin):
    return np.exp(-np.logaddexp(0.0, -margin))


LOSSES = {"squared": Squared, "logistic": Logistic, "softmax": Softmax}
