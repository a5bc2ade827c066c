"""Twin of the staged direction: the constant, the selected as a model of their own, the cells."""

from __future__ import annotations

import numpy as np

from reference.losses import Squared
from reference.selection import Measures

FIRST_MEAN = {"squared": 0.0, "logistic": 0.5}


class Staged:
    wants_pair = False
    scaled = True

    def __init__(self, scale: float, settings) -> None:
        self.scale = scale
        self.selected_clock = self.cell_clock = 0.0
        self.running = self.batches = self.error = 0.0
        self.log_strength = np.log(0.35)
        self.slope = self.curvature = 0.0
        first = FIRST_MEAN.get(settings.loss, 1.0 / settings.classes)
        self.means = np.full(settings.classes, first) if settings.intercept else None
        self.offset = np.zeros(settings.classes)
        self.sharing = Sharing()
        self.rarity = Rarity()
        self.kinship = Kinship()
        self.evidence = Evidence()
        self.heard = 0.0

    def direct(self, point):
        self.importance, self.keep = point.importance, 1.0
        strength = self.log_strength
        repeated = not isinstance(point.loss, Squared) and point.w.shape[1] <= 2
        self.repeats = point.passes if repeated else 0
        self.whole = self.sharing.share()
        self.taken = 0.0 if self.means is None else self.whole * self.trusted(point)
        before, full = self.batches, self.move_intercept(point)
        self.batches += 1
        met = self.means is not None and point.w.shape[1] > 2
        self.tau = 15 * max(1 / np.sum(self.means**2) if met else point.w.shape[1], 2)
        inside = point.inside
        present = np.maximum(np.count_nonzero(point.X, axis=0), 1)
        damping = 1.0 / np.maximum(np.sum(point.X**2, axis=0) / present, 1.0)[:, None]
        row = point.weights.sum() / np.count_nonzero(point.weights)
        occurrences = point.weights @ (point.X != 0) / row
        power = self.rarity.power
        alone_pace = damping * pace(occurrences, power)[:, None]
        crowd = point.storage.crowd(point.keys, occurrences)
        counted = getattr(point.storage, "counts", False)
        known, pull = np.zeros(len(crowd)), np.zeros(len(crowd))
        crowding = max(mean_of(crowd) / mean_of(occurrences), 1.0)
        if counted:
            met = point.storage.met(point.keys)
            known = self.evidence.known(point, self.means, crowding, met + occurrences)
            pull = self.evidence.pull(point, self.repeats, occurrences, met)
            crowd = crowd + np.where(crowd > 0, 2 + met, 0)
        roots = np.sqrt(np.maximum(crowd, 1e-100))
        if point.w.shape[1] > 2:
            roots = np.sqrt(roots)
        trust = occurrences * roots if counted else occurrences
        shared_pace = damping * pace(crowd, power)[:, None]
        if point.passes == 0:
            part = self.follow_noise(point, full)
            if before < 1000 or np.floor(before) % 4 == 0:
                self.follow_rarity(point, full, part, occurrences, crowd)
        self.measures = Measures(
            magnitudes=1.0 / np.sqrt(damping[:, 0]),
            trust=trust,
            worth=roots if counted else np.ones(len(roots)),
            met=4 * occurrences if counted and np.floor(before) % 4 == 0 else None,
            enough=1.5 * mean_of(occurrences),
            usual=np.sqrt(len(damping) / damping.sum()),
            salt=int(np.float64(self.batches).view(np.uint64)),
        )
        cells = point.X @ np.where(inside, 0.0, point.w)
        alone = full - cells
        share = self.kinship.beside(point, alone, cells) if inside.any() else 0.0
        if self.means is not None and point.selects:
            alone = alone + self.offset
            self.move_offset(point, alone, full, before)
        z = np.zeros_like(point.w)
        selected = total_slope = total_bend = 0.0
        if inside.any():
            residual = self.residual(point, alone + share * (full - alone))
            z = np.where(inside, alone_pace * (point.X.T @ residual), 0.0)
            change = point.X @ z
            slope, bend = self.measured(point, residual, change)
            own = slope / bend if bend else 0.0
            usual = np.sqrt(own * (self.running or own))
            selected = self.block_step(own, usual, self.selected_clock / 30)
            width = point.w.shape[1] // point.groups
            self.selected_clock += inside[:, ::width].sum() / point.selected
            total_slope, total_bend = slope, bend
            z = moved(z, selected, usual, alone_pace, known, pull, np.where(inside, point.w, 0.0))
            full = full - point.X @ z
        residual = self.residual(point, full)
        g = np.where(inside, 0.0, shared_pace * (point.X.T @ residual))
        stored, touched = point.storage.reflect(point.keys, g)
        change = point.X @ np.where(inside, 0.0, stored)
        slope, bend = self.measured(point, residual, change)
        own = slope / bend if bend else 0.0
        if bend + total_bend:
            allowed = (slope + total_slope) / (bend + total_bend)
            rate = max(0.02, 1 / (before + 1)) if self.running else 1.0
            self.running += rate * (allowed - self.running)
        usual = np.sqrt(own * self.running)
        wait = self.cell_clock / self.tau
        cells = self.block_step(own, usual, wait)
        self.step = self.block_step(self.running, self.running, wait)
        if touched:
            # What is left of a key that was taken out again is zero, or a rounding error.
            used = np.sum(np.abs(point.storage.cells) > 1e-12)
            many = crowding if point.w.shape[1] > 2 else 1.0
            self.cell_clock += many * touched / max(touched, used)
        if point.w.shape[1] > 2:
            steps = np.exp(self.log_strength - strength)
            steps *= np.sqrt((1 + wait) / (1 + self.cell_clock / self.tau))
            self.keep = min(np.cbrt(steps), 1.0)
        rest = np.where(inside, 0.0, point.w)
        z = z + moved(g, cells, usual, shared_pace, known, pull, rest)
        self.balance(point, z, occurrences)
        return z

    def balance(self, point, z, occurrences) -> None:
        """What features that many rows have moved all margins by goes to the intercept."""
        rows = np.count_nonzero(point.weights)
        if rows < 2 or self.means is None or self.whole < 0.35:
            return
        others = np.maximum(1 - 1 / np.maximum(occurrences, 1.0), 0.0) * rows / (rows - 1)
        weighed = point.X[point.share > 0]
        one_sided = (weighed >= 0).all(axis=0) | (weighed <= 0).all(axis=0)
        means = np.where(one_sided, others * (point.share @ point.X), 0.0)
        self.intercept_step = self.intercept_step + self.taken * (means @ z)

    def measured(self, point, residual, change) -> tuple[float, float]:
        """Slope and bend along a change, which also says what rows have in common."""
        slope, bend = line(point, residual, change)
        if bend:
            self.sharing.learn(point, residual, change)
        return slope, bend

    def move_intercept(self, point):
        """Margins with the new constant; leaves the whole step of the intercept behind."""
        self.intercept_step = 0.0
        if self.means is None:
            return point.margins
        loss, n = point.loss, np.count_nonzero(point.weights)
        constant = loss.margins_of(self.means)
        alone = np.broadcast_to(constant, point.margins.shape)
        off = loss.residual(alone, point.labels, point.share).sum(axis=0)
        guess = loss.value(alone, point.labels, point.share)
        prior = 0 if isinstance(loss, Squared) else 1 / n
        self.means = self.means - min(self.importance, 1.0) * off / (self.batches + 1 + prior)
        shift = loss.margins_of(self.means) - constant
        full = point.margins + shift
        if point.passes == 0:
            value = loss.value(full, point.labels, point.share)
            self.evidence.learn(guess, value, self.batches)
        off = loss.residual(full, point.labels, point.share).sum(axis=0)
        step = self.intercept_pace(loss, self.batches)
        self.intercept_step = shift - step * off
        return full

    def intercept_pace(self, loss, batches) -> float:
        bend = max(loss.curvature_at(self.means), 0.0025 * loss.kmax)
        pace = self.importance * self.scale * 0.5 / np.sqrt(loss.kmax * bend)
        return pace / np.sqrt(1 + min(batches, 400))

    def move_offset(self, point, alone, full, before) -> None:
        """The constant of the selected alone, as it differs from that of the whole model."""
        step = 0.1 * self.intercept_pace(point.loss, before)
        for margins, sign in ((alone, -1), (full, 1)):
            off = point.loss.residual(margins, point.labels, point.share).sum(axis=0)
            self.offset = self.offset + sign * step * off

    def follow_noise(self, point, full) -> np.ndarray:
        part = point.margins - point.intercept
        rows = np.count_nonzero(point.weights)
        if rows > 1:
            part = part - point.share @ part
        residual = point.loss.residual(full, point.labels, point.share)
        bend = point.loss.curvature(full, point.share)
        self.slope += 0.05 * (np.sum(residual * part) - self.slope)
        along = np.einsum("ia,iab,ib->", part, bend, part)
        self.curvature += 0.05 * (along - self.curvature)
        value = point.loss.value(full, point.labels, point.share)
        self.error += 0.05 * (value - self.error)
        dispersion = 2 * self.error if isinstance(point.loss, Squared) else 1.0
        if self.curvature > 0 and dispersion > 0:
            growth = np.clip(0.1 - self.slope / self.curvature, -1, 3)
            information = rows * self.curvature / (0.05 * dispersion)
            part_heard = information / (information + 20)
            self.heard += part_heard
            settled = 0.0 if isinstance(point.loss, Squared) else self.heard / 50
            growth *= part_heard / (1 + settled)
            self.log_strength = np.clip(self.log_strength + 0.05 * growth, np.log(0.02), 0)
        return part

    def follow_rarity(self, point, full, part, occurrences, crowd) -> None:
        """By how the loss changes as the weights of the frequent grow, of cells and selected."""
        logs = rough_log2(np.maximum(crowd, 1e-30))[:, None]
        tilted = np.zeros_like(point.w)
        for group in (point.inside, ~point.inside):
            sizes = np.where(group & (occurrences > 0)[:, None], np.abs(point.w), 0.0)
            mean = np.sum(sizes * logs) / sizes.sum() if sizes.any() else 0.0
            tilted += np.where(group, (logs - mean) * point.w, 0.0)
        change = point.X @ tilted
        rows = np.count_nonzero(point.weights)
        if rows > 1:
            change = change - point.share @ change
        residual = point.loss.residual(full, point.labels, point.share)
        bend = point.loss.curvature(full, point.share)
        dispersion = 2 * self.error if isinstance(point.loss, Squared) else 1.0
        self.rarity.learn(
            np.sum(residual * change),
            np.einsum("ia,iab,ib->", change, bend, change),
            np.einsum("ia,iab,ib->", change, bend, part),
            (self.slope, self.curvature),
            dispersion / rows,
        )

    def trusted(self, point):
        """How far the mean of the residuals of a class is an offset, and not news."""
        if len(self.means) <= 2:
            return 1.0
        expected = self.means * np.count_nonzero(point.weights)
        return expected / (expected + 1)

    def residual(self, point, margins):
        """Residuals without the share of their mean that all rows have in common."""
        residual = point.loss.residual(margins, point.labels, point.share)
        rows = np.count_nonzero(point.share)
        if rows < 2:
            return residual
        rest = residual - self.taken * np.outer(point.share, residual.sum(axis=0))
        # A heavy row loses as much as each of equal rows does.
        return rest * (1 - self.taken / rows) / (1 - point.share[:, None] * self.taken)

    def block_step(self, own: float, usual: float, wait: float) -> float:
        pace = self.importance * self.scale * np.exp(self.log_strength) * 1.5
        pace /= np.sqrt((1 + wait) * (1 + self.repeats))
        return min(pace * usual, 2 * own)


class Rarity:
    """The power of how often weights are touched that their changes are divided by."""

    def __init__(self) -> None:
        self.power = 0.2
        self.sums = np.zeros(3)

    def learn(self, slope, curvature, mixed, common, noise) -> None:
        self.sums += 0.05 * (np.array([slope, curvature, mixed]) - self.sums)
        slope, curvature, mixed = self.sums
        common_slope, common_curvature = common
        if not (common_curvature > 0 and noise > 0):
            return
        slope -= mixed / common_curvature * common_slope
        curvature -= mixed / common_curvature * mixed
        if curvature > 0:
            information = curvature / (0.05 * noise)
            rate = 0.05 * information / (information + 20)
            self.power = np.clip(self.power + rate * np.clip(slope / curvature, -1, 1), 0, 0.75)


class Kinship:
    """How much the margins of the selected have to do with those of the cells."""

    def __init__(self) -> None:
        self.sums = np.zeros(3)

    def beside(self, point, alone, cells) -> float:
        """How far the selected see the margins of the whole model, after a look at this batch."""
        if np.count_nonzero(point.share) < 2:
            return 0.0
        alone, cells = alone - point.share @ alone, cells - point.share @ cells
        if point.passes == 0:
            pairs = ((alone, alone), (cells, cells), (alone, cells))
            here = [point.share @ np.sum(a * b, axis=1) for a, b in pairs]
            self.sums += 0.02 * (np.array(here) - self.sums)
        selected, others, both = self.sums
        if not selected * others > 0:
            return 0.0
        return (1 - np.clip(both / np.sqrt(selected * others), 0, 1)) ** 6


class Evidence:
    """How much is known of each weight already, by the noise in the labels."""

    def __init__(self) -> None:
        self.losses = np.zeros(2)

    def learn(self, constant, model, batches) -> None:
        rate = max(0.01, 1 / (1 + batches))
        self.losses += rate * (np.array([constant, model]) - self.losses)

    def known(self, point, means, crowding, met) -> np.ndarray:
        if means is None:
            return np.zeros(len(met))
        noise = self.left() ** (2 if isinstance(point.loss, Squared) else 4)
        if noise < 1e-3:
            return np.zeros(len(met))
        bend = point.loss.curvature_at(means)
        one = noise * bend * np.sqrt(bend / point.loss.kmax)
        squares = np.sum(point.X**2, axis=0) / np.maximum(np.count_nonzero(point.X, axis=0), 1)
        rows = np.count_nonzero(point.weights)
        return one * squares * met / (keys_of_counter(point) * crowding**2 * rows)

    def left(self) -> float:
        """Share of the loss of the best constant that the model leaves."""
        constant, model = self.losses
        return np.clip(model / constant, 0, 1) if constant > 0 else 0.0

    def pull(self, point, repeats, occurrences, met) -> np.ndarray:
        """Share of a weight that is taken back where examples are seen again."""
        if not repeats:
            return np.zeros(len(met))
        passes = (repeats + 0.5) * keys_of_counter(point)
        return self.left() ** 2 * np.minimum(occurrences * passes / np.maximum(met, 1), 1)


class Sharing:
    """How much further margins move along the mean of the residuals than along the rest."""

    def __init__(self) -> None:
        self.sums = np.zeros(4)

    def share(self) -> float:
        if not np.all(self.sums > 0):
            return 0.0
        along_mean, means, along_rest, rests = self.sums
        return np.clip(1 - ((along_rest / rests) / (along_mean / means)) ** 1.5, 0, 0.95)

    def learn(self, point, residual, change) -> None:
        here = point.share > 0
        if np.count_nonzero(here) < 2:
            return
        shares, residual, change = point.share[here], residual[here], change[here]
        total, moved = residual.sum(axis=0), shares @ change
        mean = np.array([total @ moved, total @ total])
        whole = np.array([np.sum(residual * change), np.sum(residual**2 / shares[:, None])])
        self.sums += 0.05 * (np.concatenate([mean, whole - mean]) - self.sums)


def keys_of_counter(point) -> float:
    """Cells in use of those that share a counter."""
    cells = point.storage.cells
    full = np.sum(np.abs(cells) > 1e-12) / cells.size
    return 1 + (max(8 / point.w.shape[1], 1) - 1) * full


def moved(change, length, usual, paces, known, pull, weights) -> np.ndarray:
    """Make a step of that length, shorter where more is known, with a pull to zero."""
    held = length / (1 + length * paces * known[:, None])
    part = np.minimum(pull[:, None] * held / usual, 0.5) if usual else 0.0
    return change * held + part * weights


def mean_of(amounts: np.ndarray) -> float:
    """Mean of the amounts above 0."""
    return sum(amounts) / np.count_nonzero(amounts)


def pace(amounts: np.ndarray, power: float) -> np.ndarray:
    """One over a power of each amount by the mean; equal amounts move alike, to the last bit."""
    logs, mean = (rough_log2(np.maximum(a, 1e-30)) for a in (amounts, mean_of(amounts)))
    return rough_exp2(np.float32(power) * (mean - logs)).astype(np.float64)


def rough_log2(amounts: np.ndarray) -> np.ndarray:
    """Near enough, and the same on every machine."""
    part, whole = np.frexp(np.asarray(amounts, dtype=np.float32))
    part, whole = np.float32(2) * part - np.float32(1), (whole - 1).astype(np.float32)
    return whole + part + np.float32(0.3466) * part * (np.float32(1) - part)


def rough_exp2(powers: np.ndarray) -> np.ndarray:
    shifted = powers + np.float32(127)
    whole = shifted.astype(np.int32)
    part = shifted - whole.astype(np.float32)
    bent = np.float32(1) + part - np.float32(0.3371) * part * (np.float32(1) - part)
    return np.ldexp(np.float32(1), whole - 127) * bent


def line(point, residual, change) -> tuple[float, float]:
    """Slope and bound on the curvature along a change of the margins; zeros if it goes nowhere."""
    slope = np.sum(residual * change)
    bend = point.loss.kmax * point.share @ np.sum(change**2, axis=1)
    return (slope, bend) if slope > 0 and bend > 0 else (0.0, 0.0)
