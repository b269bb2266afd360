"""Quantiles of weighted sums of Laplace noises, by inverting their characteristic function.

For e = Σⱼ aⱼXⱼ + √β·N with X of scale 1 and N normal, β its share `bell`,
M(θ) = E exp(θe) = exp(βθ²/2)·Πⱼ 1/(1 − aⱼ²θ²), and for q > 0

    P(e > q) = (1/2πi) ∫ exp(−qθ)·M(θ)/θ dθ

along any path that goes up between the pole at 0 and the first pole at 1/maxⱼ aⱼ. On the usual
straight path the integrand of a single Laplace noise falls like |θ|⁻³ and oscillates. Here the path
is a hyperbola that crosses the real axis at the integrand's saddle point and bends away to the
right, where exp(−qθ) falls exponentially and no pole is met (Weideman & Trefethen, Math. Comp.
2007, for contours of this kind). With the trapezoidal rule fifty points give ten digits of
the tail, whatever the weights and however far it is.
"""

from statistics import NormalDist

import numpy as np

# From the vertical: halfway to 45°, beyond which exp(θ²/2), that M of many small terms is, grows.
_BEND = np.pi / 8
_STEP = 0.1  # in the hyperbola's parameter; the rule's error is about exp(−2π·(π/8)/step) = 2e-11
_DECAY = 34.0  # the path ends where exp(−qθ) has fallen by exp(−34) ≈ 2e-15
_FARTHEST = 14.0  # or where |θ|⁻² has, for tiny q
_NEAR = 0.2  # a path drawn for one q serves others this close
_MOST_PATHS = 5  # two in practice
_TOGETHER = 16  # factors of M multiplied before a logarithm is taken; no overflow up to |θ| = 1e9


def half_widths(weights: np.ndarray, misses: float, normal: np.ndarray | float = 0.0) -> np.ndarray:
    """For each row of weights ≥ 0 the q with P(|Σⱼ weightsⱼ·Xⱼ + normal·N| > q) = misses, X of
    scale 1 and N normal; no row of weights may be all zero."""
    spread = np.sqrt(2 * np.square(weights).sum(axis=1) + np.square(normal))
    shares = np.square(weights / spread[:, None])
    bell = np.square(normal / spread)
    q = _guess(shares, misses)
    for _ in range(_MOST_PATHS):
        drawn_for, q = q, _Path(shares, bell, q).quantile(misses, q)
        if (np.abs(q / drawn_for - 1) <= _NEAR).all():
            break
    return q * spread


def _guess(shares: np.ndarray, misses: float) -> np.ndarray:
    """Between the quantiles of the normal and of one Laplace noise, by the kurtosis."""
    normal, single = -NormalDist().inv_cdf(misses / 2), -np.log(misses) / np.sqrt(2)
    kurtosis = 4 * np.square(shares).sum(axis=1)  # of one Laplace noise: 1
    return normal + (single - normal) * kurtosis


class _Path:
    """Points θ of each row's hyperbola, and the factors of exp(−qθ) in the sum over them."""

    def __init__(self, shares: np.ndarray, bell: np.ndarray, q: np.ndarray) -> None:
        saddle, curvature = _saddle(shares, bell, q)
        width = 1 / (np.cos(_BEND) * np.sqrt(curvature))
        ends = np.arccosh(1 + _DECAY / (np.sin(_BEND) * q * width))
        v = np.arange(0.0, min(_FARTHEST, ends.max()), _STEP)
        across, along = np.cos(_BEND) * np.sinh(v), np.sin(_BEND) * (np.cosh(v) - 1)
        slope = 1j * np.cos(_BEND) * np.cosh(v) + np.sin(_BEND) * np.sinh(v)
        slope[0] /= 2  # the trapezoidal rule over v ≥ 0; the other half is the conjugate
        self.theta = saddle[:, None] + width[:, None] * (along + 1j * across)
        log_m = _log_m(shares, self.theta) + bell[:, None] * np.square(self.theta) / 2
        self.factors = _STEP / np.pi * width[:, None] * slope * np.exp(log_m) / self.theta

    def quantile(self, misses: float, q: np.ndarray) -> np.ndarray:
        """Newton on log P(e > q), which is concave."""
        for _ in range(50):
            terms = self.factors * np.exp(-q[:, None] * self.theta)
            tail, density = terms.imag.sum(axis=1), (terms * self.theta).imag.sum(axis=1)
            change = tail / density * np.log(2 * tail / misses)
            q = np.maximum(q + change, q / 10)
            if (np.abs(change) <= 1e-12 * q).all():
                break
        return q


def _saddle(shares: np.ndarray, bell: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The minimum over 0 < θ < 1/maxⱼ aⱼ of φ = log M(θ) − log θ − qθ, and φ″ there.

    φ is self-concordant, so Newton's step δ, damped by 1 + √(φ″)·|δ|, never leaves the interval.
    """
    theta = np.minimum(q, 0.5 / np.sqrt(shares.max(axis=1)))
    for _ in range(40):
        room = 1 - shares * np.square(theta)[:, None]
        first = 2 * theta * (shares / room).sum(axis=1) + bell * theta - 1 / theta - q
        second = (2 * shares * (2 - room) / np.square(room)).sum(axis=1) + bell
        second += 1 / np.square(theta)
        size = np.abs(first) / np.sqrt(second)
        theta = theta - first / (second * (1 + size))
        if (size < 1e-3).all():
            break
    return theta, second


def _log_m(shares: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """log M at the points of each row, up to multiples of 2πi."""
    rows, terms = shares.shape
    together = min(terms, _TOGETHER)
    padded = np.zeros((rows, -(-terms // together) * together))
    padded[:, :terms] = shares
    groups = np.ascontiguousarray(padded.reshape(rows, together, -1).swapaxes(0, 1))
    logs = []
    for square in np.square(theta).T[:, :, None]:
        product = 1 - groups[0] * square
        for group in groups[1:]:
            product *= 1 - group * square
        logs.append(np.log(product).sum(axis=1))
    return -np.stack(logs, axis=1)
