"""The one function in which counts meet noise."""

import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from leastnoise.errors import InputError, PrivacyError
from leastnoise.release import measure as measuring
from leastnoise.release import noise as sampling
from leastnoise.release.calibrate import Noise, calibrate
from leastnoise.release.measure import measure
from leastnoise.release.noise import add_noise, privacy_loss
from leastnoise.release.privacy import Privacy, promise
from leastnoise.release.quantise import IntegerStrategy, integer_strategy

SOURCE = Path(measuring.__file__).resolve().parents[1]


def planned(kind: str = "laplace", **arguments: object) -> tuple[IntegerStrategy, Noise, Privacy]:
    blocks = [
        np.array([[3, -1, 4], [1, 5, -9]]) * 2**20,
        sp.csr_array(np.array([[2, 0], [0, -7], [1, 1]]) * 2**20),
    ]
    strategy = integer_strategy(blocks, 20, 2**30)
    privacy = promise(**arguments) if arguments else promise(epsilon=1)
    return strategy, calibrate(strategy, privacy, kind), privacy


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> list[list[int]]:
    """Noise replaced by nothing; what it was asked to cover."""
    asked: list[list[int]] = []

    def nothing(sums: np.ndarray, noise: Noise) -> np.ndarray:
        asked.append(sums.tolist())
        return sums

    monkeypatch.setattr(measuring, "add_noise", nothing)
    return asked


@pytest.mark.parametrize("top", [10, 2**30])
def test_sums_are_those_of_python_integers(silent: list[list[int]], top: int) -> None:
    plan = planned()
    rng = np.random.default_rng(3)
    counts = [rng.integers(0, top + 1, 3), rng.integers(0, top + 1, 2)]
    first, second = measure(counts, *plan)
    blocks = [plan[0].blocks[0], plan[0].blocks[1].toarray()]
    exact = [
        (b.astype(object) @ x.astype(object)).tolist() for b, x in zip(blocks, counts, strict=True)
    ]
    assert [first.tolist(), second.tolist()] == exact
    assert silent == [exact[0] + exact[1]]


def test_sums_of_too_many_records_saturate(silent: list[list[int]]) -> None:
    """S = max|L_q|·n_max; what lies beyond is moved there, on either side, row by row."""
    strategy, noise, privacy = planned()
    full = [np.full(3, 2**30), np.full(2, 2**30)]
    first, second = measure(full, strategy, noise, privacy)
    most = 9 * 2**20 * 2**30
    assert first.tolist() == [6 * 2**50, -3 * 2**50]
    assert second.tolist() == [2 * 2**50, -7 * 2**50, 2 * 2**50]
    heavy = integer_strategy([np.full((2, 30), 2**20) * [[1], [-1]]], 20, 2**30)
    (sums,) = measure([np.full(30, 2**30)], heavy, calibrate(heavy, privacy, "laplace"), privacy)
    assert sums.tolist() == [2**50, -(2**50)]
    assert max(map(abs, silent[0])) <= most


def test_python_integers_take_over_where_int64_would_wrap(silent: list[list[int]]) -> None:
    for block in (np.full((2, 8), 2**29), sp.csr_array(np.full((2, 8), 2**29))):
        assert measuring.exact_sums(block, np.full(8, 2**32)) == [2**64, 2**64]


def test_counts_are_clipped(silent: list[list[int]]) -> None:
    plan = planned()
    wild = [np.array([-5, 2**63 - 1, 7]), np.array([-(2**63), 2**30])]
    tame = [np.array([0, 2**30, 7]), np.array([0, 2**30])]
    for one, other in zip(measure(wild, *plan), measure(tame, *plan), strict=True):
        assert one.tolist() == other.tolist()


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        ("laplace", {"epsilon": 0.1}),
        ("laplace", {"epsilon": "1/3", "delta": 1e-6, "max_rows": 4}),
        ("gaussian", {"epsilon": 1, "delta": 1e-6}),
        ("gaussian", {"epsilon": 1, "delta": 1e-6, "neighbors": "change_one", "max_rows": 3}),
        ("gaussian", {"rho": "0.1"}),
    ],
)
def test_real_noise_stays_near_the_sums(kind: str, arguments: dict[str, object]) -> None:
    plan = planned(kind, **arguments)
    counts = [np.array([5, 6, 7]), np.array([8, 9])]
    for noisy, block, x in zip(measure(counts, *plan), plan[0].blocks, counts, strict=True):
        assert noisy.dtype == np.int64
        assert np.all(np.abs(noisy - block @ x) < 64 * plan[1].scale)


def test_no_seed_two_releases_differ() -> None:
    plan, counts = planned(), [np.zeros(3, dtype=np.int64), np.zeros(2, dtype=np.int64)]
    one, other = (np.concatenate(measure(counts, *plan)) for _ in range(2))
    assert not np.any(one == other)  # five equal pairs of draws at scale 2²⁴: 1e-7 a pair


@given(
    one=hnp.arrays(np.int64, 3, elements=st.integers(-(2**63), 2**63 - 1)),
    two=hnp.arrays(np.int64, 2, elements=st.integers(-(2**63), 2**63 - 1)),
)
@settings(deadline=None, max_examples=50)
def test_no_value_is_refused(one: np.ndarray, two: np.ndarray) -> None:
    assert [len(part) for part in measure([one, two], *planned())] == [2, 3]


class Untouchable(list):
    """Counts that tell when they are looked at."""

    def __len__(self) -> int:
        raise AssertionError("the counts were looked at")

    __iter__ = __getitem__ = __len__


def test_every_check_comes_before_the_counts() -> None:
    strategy, noise, privacy = planned()
    weak = Noise(noise.kind, noise.scale / 2, noise.limit)
    with pytest.raises(PrivacyError):
        measure(Untouchable(), strategy, weak, privacy)
    with pytest.raises(AssertionError, match="looked at"):
        measure(Untouchable(), strategy, noise, privacy)


@pytest.mark.parametrize(
    "counts",
    [
        [],
        [np.zeros(3, dtype=np.int64)],
        [np.zeros(3, dtype=np.int64), np.zeros(3, dtype=np.int64)],
        [np.zeros(3), np.zeros(2)],
        [np.zeros(3, dtype=np.int32), np.zeros(2, dtype=np.int32)],
        [np.zeros((3, 1), dtype=np.int64), np.zeros(2, dtype=np.int64)],
        [[0, 0, 0], [0, 0]],
    ],
)
def test_types_and_lengths_are_checked(counts: list) -> None:
    with pytest.raises(InputError, match=r"^counts must"):
        measure(counts, *planned())


def test_noise_of_an_unknown_kind_is_refused() -> None:
    strategy, noise, privacy = planned()
    with pytest.raises(InputError, match="noise must be"):
        measure([], strategy, Noise("none", noise.scale, noise.limit), privacy)


def test_more_noise_than_promised_is_allowed() -> None:
    strategy, noise, privacy = planned()
    more = Noise(noise.kind, 2 * noise.scale, noise.limit / 2)
    assert (
        len(
            measure(
                [np.zeros(3, dtype=np.int64), np.zeros(2, dtype=np.int64)], strategy, more, privacy
            )
        )
        == 2
    )


def test_sampler_errors_carry_no_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(noise: Noise) -> object:
        def mechanism(sums: list[int]) -> None:
            raise ValueError(f"cannot encode {sums}")

        return mechanism

    monkeypatch.setattr(sampling, "_mechanism", broken)
    with pytest.raises(PrivacyError) as refusal:
        add_noise(np.array([771]), Noise("laplace", 1.0, Fraction(1)))
    assert "771" not in str(refusal.value)
    assert refusal.value.__context__ is None


def test_opendp_states_the_textbook_losses() -> None:
    assert privacy_loss(Noise("laplace", 8.0, Fraction(1)), 4) == Fraction(1, 2)
    assert privacy_loss(Noise("gaussian", 8.0, Fraction(1)), 4.0) == Fraction(1, 8)


def test_a_loss_that_opendp_cannot_state_is_refused() -> None:
    with pytest.raises(PrivacyError, match="cannot state"):
        privacy_loss(Noise("laplace", 1.0, Fraction(1)), 2**70)


def test_opendp_saturates() -> None:
    """At ±2⁶³ it stays there, which is post-processing; a wrap-around would not be."""
    top = np.full(50, 2**63 - 1)
    noisy = add_noise(top, Noise("laplace", 2.0**40, Fraction(1)))
    assert np.all(noisy > 2**62)


def test_the_samplers_have_one_caller() -> None:
    def files_naming(pattern: str) -> set[str]:
        return {p.name for p in SOURCE.rglob("*.py") if re.search(pattern, p.read_text("utf-8"))}

    assert files_naming(r"\badd_noise\(") == {"noise.py", "measure.py"}
    assert files_naming(r"make_(laplace|gaussian)\(") == {"noise.py"}


def test_the_kernel_imports_nothing_of_ours_but_errors_and_nothing_slow() -> None:
    code = (
        "import sys, leastnoise.release.measure, leastnoise.release.counts\n"
        "print([m for m in sys.modules if m in ('opendp', 'mpmath', 'pandas')])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
    for path in (SOURCE / "release").glob("*.py"):
        ours = re.findall(r"(?:from|import) (leastnoise[\w.]*)", path.read_text("utf-8"))
        assert all(m == "leastnoise.errors" or m.startswith("leastnoise.release.") for m in ours)
