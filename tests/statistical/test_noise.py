"""Real noise through `measure`: right at its scale, and told apart from ±5 %.

Each test statistic exceeds its threshold by chance with probability below 1e-6.
"""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats

from leastnoise.release.calibrate import Noise, calibrate
from leastnoise.release.integers import integer_strategy
from leastnoise.release.measure import measure
from leastnoise.release.noise import add_noise
from leastnoise.release.privacy import promise

DRAWS = 200_000
LAW = {"laplace": stats.laplace, "gaussian": stats.norm}
PROMISE = {"laplace": promise(epsilon=1), "gaussian": promise(rho="1/2")}


def variance_is_right(draws: np.ndarray, kind: str, scale: float) -> bool:
    """Within six standard deviations of the sample variance, √((κ − 1)/n) with kurtosis κ."""
    law = LAW[kind](scale=scale)
    kurtosis = 3 + float(law.stats(moments="k"))
    error = np.mean(draws.astype(float) ** 2) / law.var() - 1
    return abs(error) < 6 * math.sqrt((kurtosis - 1) / len(draws))


def distribution_is_right(draws: np.ndarray, kind: str, scale: float) -> bool:
    """Kolmogorov–Smirnov: √n·D > 2.75 has probability 2·exp(−2·2.75²) = 5e-7."""
    statistic = stats.kstest(draws / scale, LAW[kind].cdf, method="asymp").statistic
    return statistic * math.sqrt(len(draws)) < 2.75


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_measured_noise_has_its_scale_and_law(kind: str) -> None:
    identity = sp.csr_array(sp.eye_array(DRAWS, dtype=np.int64, format="csr") * 2**30)
    strategy = integer_strategy([identity], 30, 2**20)
    noise = calibrate(strategy, PROMISE[kind], kind)
    (draws,) = measure([np.zeros(DRAWS, dtype=np.int64)], strategy, noise, PROMISE[kind])
    assert noise.scale == pytest.approx(2**30, rel=1e-12)
    assert variance_is_right(draws, kind, noise.scale)
    assert distribution_is_right(draws, kind, noise.scale)
    assert abs(np.corrcoef(draws[::2], draws[1::2])[0, 1]) < 5.5 / math.sqrt(DRAWS / 2)


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("fudge", [0.95, 1.05])
def test_noise_that_is_five_percent_off_is_noticed(kind: str, fudge: float) -> None:
    fudged = Noise(kind, fudge * 2**30, Fraction(1))
    draws = add_noise(np.zeros(DRAWS // 2, dtype=np.int64), fudged)
    assert not variance_is_right(draws, kind, 2.0**30)
    assert variance_is_right(draws, kind, fudged.scale)


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_a_wrong_law_of_the_right_variance_is_noticed(kind: str) -> None:
    other, scale = ("gaussian", math.sqrt(2)) if kind == "laplace" else ("laplace", math.sqrt(0.5))
    draws = add_noise(
        np.zeros(DRAWS // 4, dtype=np.int64), Noise(other, scale * 2**30, Fraction(1))
    )
    assert not distribution_is_right(draws, kind, 2.0**30)


def log_weight(kind: str, scale: float) -> Callable[[np.ndarray], np.ndarray]:
    if kind == "laplace":
        return lambda z: -np.abs(z) / scale
    return lambda z: -(z**2) / (2 * scale**2)


def chi_squared_is_right(draws: np.ndarray, kind: str, scale: float) -> bool:
    """On the lattice itself: the counts of −6 … 6 against their exact probabilities."""
    points = np.arange(-400, 401)
    weights = np.exp(log_weight(kind, scale)(points))
    expected = len(draws) * weights / weights.sum()
    middle = np.abs(points) <= 6
    seen = np.array([np.sum(draws == z) for z in points[middle]])
    rest = [len(draws) - seen.sum()], [expected[~middle].sum()]
    seen, expected = np.append(seen, rest[0]), np.append(expected[middle], rest[1])
    return bool(np.sum((seen - expected) ** 2 / expected) < stats.chi2.isf(1e-7, len(seen) - 1))


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_the_discrete_law_is_exact_on_a_coarse_lattice(kind: str) -> None:
    draws = add_noise(np.zeros(DRAWS // 2, dtype=np.int64), Noise(kind, 2.5, Fraction(1)))
    assert chi_squared_is_right(draws, kind, 2.5)
    assert not chi_squared_is_right(draws, kind, 2.5 * 1.05)
    assert not chi_squared_is_right(draws, kind, 2.5 * 0.95)
