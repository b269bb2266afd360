"""Each wrong argument: one sentence that names it, and nothing done."""

import re

import numpy as np
import pytest
import scipy.sparse as sparse
from workloads import STATES, ranges

import leastnoise as ln
from leastnoise.errors import InputError, LeastnoiseError, PlanError, PrivacyError, TooLargeError

SECRET = 987_654_321


def refusal(error: type[LeastnoiseError], *arguments: object, **options: object) -> str:
    """The one sentence with which `plan` refuses."""
    with pytest.raises(error) as caught:
        ln.plan(*arguments, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert 10 < len(message) < 250
    return message


@pytest.mark.parametrize(
    ("W", "says"),
    [
        ([[1.0, np.nan]], "NaN or infinite"),
        ([[1.0, -np.inf]], "NaN or infinite"),
        (sparse.csr_array([[1.0, np.nan]]), "NaN or infinite"),
        (np.array([[1, np.inf]], dtype=object), "not numeric"),
        ([], "two-dimensional"),
        ([[]], "empty"),
        (np.ones((0, 3)), "empty"),
        (sparse.csr_array((3, 0)), "empty"),
        ([[0, 0], [0, -0.0]], "all zero"),
        (sparse.csr_array((3, 3)), "all zero"),
        ([[1j, 1]], "complex"),
        ([["a", "b"]], "not numeric"),
        (None, "two-dimensional"),
        ("W.npy", "two-dimensional"),
        (7, "two-dimensional"),
        ([1, 2, 3], r"write a single query as \[\[...\]\]"),
        (np.ones((2, 2, 2)), "two-dimensional"),
        ([[1, 2], [3]], "differ in length"),
        ([[2.0**53 + 2]], r"beyond 2\*\*53"),
        ([[2**70]], "workload"),
        ([[True, "x"]], "not numeric"),
    ],
)
def test_bad_workloads(W: object, says: str) -> None:
    message = refusal(InputError, W, epsilon=1)
    assert "workload" in message
    assert re.search(says, message)


@pytest.mark.parametrize("epsilon", [0, -1, 0.0, np.nan, np.inf, "much", "", True, [1], 1j, "1/0"])
@pytest.mark.parametrize("name", ["epsilon", "rho"])
def test_bad_budgets(epsilon: object, name: str) -> None:
    assert name in refusal(InputError, STATES, **{name: epsilon})


@pytest.mark.parametrize("delta", [-1e-9, 1, 1.5, np.nan, "none", True, None])
def test_bad_deltas(delta: object) -> None:
    assert "delta" in refusal(InputError, STATES, epsilon=1, delta=delta)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({}, "exactly one of epsilon and rho"),
        ({"epsilon": 1, "rho": 1}, "exactly one of epsilon and rho"),
        ({"epsilon": 1, "max_std": 2}, "not both"),
        ({"rho": 1, "max_std": 2}, "not both"),
        ({"rho": 1, "delta": 1e-6}, "delta"),
        (
            {"epsilon": 1, "mechanism": "best"},
            "mechanism must be one of 'auto', 'nod', 'nor', 'opt",
        ),
        ({"epsilon": 1, "mechanism": None}, "mechanism must be one of"),
        ({"epsilon": 1, "mechanism": ["nod"]}, "mechanism must be one of"),
        ({"epsilon": 1, "noise": "uniform"}, "noise must be 'auto', 'laplace' or 'gaussian'"),
        ({"epsilon": 1, "noise": None}, "noise must be"),
        ({"epsilon": 1, "neighbors": "bounded"}, "neighbors must be 'add_remove' or 'change_one'"),
        (
            {"epsilon": 1, "delta": 1e-4, "calibration": "exact"},
            "calibration must be 'analytic' or",
        ),
        ({"epsilon": 1, "delta": 1e-4, "calibration": None}, "calibration must be 'analytic' or"),
        ({"epsilon": 1, "calibration": "paper"}, "calibration='paper' is for Gaussian noise; give"),
        ({"rho": 1, "calibration": "paper"}, "calibration='paper' is for Gaussian noise; give"),
        (
            {"epsilon": 200, "delta": 1e-4, "calibration": "paper"},
            "leave calibration at 'analytic'",
        ),
        ({"epsilon": 1, "max_rows": 0}, "max_rows must be at least 1"),
        ({"epsilon": 1, "max_rows": 1.5}, "max_rows must be an integer"),
        ({"epsilon": 1, "max_rows": True}, "max_rows must be an integer"),
        ({"epsilon": 1, "max_total": 0}, "max_total must be at least 1"),
        ({"epsilon": 1, "max_total": 1e9}, "max_total must be an integer"),
        ({"epsilon": 1, "max_total": 2**61}, "max_total must be below 2**63 / 4 cells"),
        ({"epsilon": 1, "deadline": 0}, "deadline must be a positive number"),
        ({"epsilon": 1, "deadline": -1}, "deadline must be a positive number"),
        ({"epsilon": 1, "deadline": "soon"}, "deadline must be a positive number"),
        ({"epsilon": 1, "deadline": np.nan}, "deadline must be a positive number"),
        ({"epsilon": 1, "weights": [1, 1]}, "weights must be one number per query, 3 in all"),
        ({"epsilon": 1, "weights": 2}, "weights must be one number per query, 3 in all"),
        ({"epsilon": 1, "weights": [1, 1, -1]}, "weights must be finite, at least 0"),
        ({"epsilon": 1, "weights": [0, 0, 0]}, "not all 0"),
        ({"epsilon": 1, "weights": [1, 1, np.nan]}, "weights must be finite"),
        ({"epsilon": 1, "weights": [1, 1, np.inf]}, "weights must be finite"),
        ({"epsilon": 1, "weights": ["a", "b", "c"]}, "weights must be numbers"),
        ({"epsilon": 1, "weights": [[1], [1, 2], [3]]}, "weights must be numbers"),
        ({"epsilon": 1, "weights": "heavy"}, "weights must be numbers"),
        ({"epsilon": 1, "weights": [1j, 1, 1]}, "weights must be numbers"),
        ({"epsilon": 1, "weights": [[1, 1, 1]]}, "one number per query, 3 in all"),
        ({"epsilon": 1, "objective": "best"}, "objective must be 'total' or 'worst', not 'best'"),
        ({"epsilon": 1, "objective": None}, "objective must be 'total' or 'worst'"),
        ({"epsilon": 1, "objective": ["total"]}, "objective must be 'total' or 'worst'"),
        ({"epsilon": 1, "seed": -1}, "seed must be a whole number of at least 0, not -1"),
        ({"epsilon": 1, "seed": 1.0}, "seed must be a whole number"),
        ({"epsilon": 1, "seed": None}, "seed must be a whole number"),
        ({"epsilon": 1, "seed": True}, "seed must be a whole number"),
        ({"epsilon": 1, "deadline": True}, "deadline must be a positive number"),
        ({"epsilon": 1, "deadline": [1]}, "deadline must be a positive number"),
        ({"epsilon": 1, "branching": 2}, "branching is no argument of plan; mechanism='auto'"),
        ({"epsilon": 1, "mechanism": "nod", "gap": 1}, "gap is no argument of plan"),
        ({"epsilon": 1, "problem": 1}, "problem is no argument of plan"),
        ({"epsilon": 1, "mechanism": "optimal", "search": 1}, "search is no argument of plan"),
        ({"epsilon": 1, "mechanism": "augmented", "noise": "gaussian", "delta": 1e-6}, "laplace"),
        ({"rho": 1, "mechanism": "augmented"}, "'augmented' is for laplace noise"),
        ({"epsilon": 1, "mechanism": "matrix"}, "'matrix' is for gaussian noise"),
        ({"rho": 1, "mechanism": "mwem"}, "'mwem' is for laplace noise; give epsilon"),
        ({"epsilon": 1, "mechanism": "mwem", "rank": 2}, "rank is no argument of plan; mechanism="),
        (
            {"epsilon": 1, "mechanism": "lrm", "branching": 2},
            "takes gamma, rank, fallback, relaxed",
        ),
        ({"epsilon": 1, "mechanism": "lrm", "noise": "uniform"}, "noise must be 'auto'"),
        ({"epsilon": 1, "mechanism": "hierarchical", "gamma": 1}, "takes branching, root"),
        ({"epsilon": 1, "mechanism": "wavelet", "root": True}, "takes no settings"),
        ({"epsilon": 1, "mechanism": "all", "rank": 2}, "rank is no argument of plan"),
    ],
)
def test_bad_options(options: dict[str, object], says: str) -> None:
    assert says in refusal(LeastnoiseError, STATES, **options)


def test_sums_that_would_overflow_are_refused() -> None:
    options = {"epsilon": 1, "mechanism": "nor", "max_total": 2**60}
    assert "smaller max_total" in refusal(PrivacyError, 8 * STATES, **options)


@pytest.mark.parametrize("deadline", [1, 0.5, np.float64(2), np.int64(3), np.inf])
def test_numbers_of_any_type_are_deadlines(deadline: float) -> None:
    ln.plan(STATES, epsilon=1, mechanism="optimal", deadline=deadline)


@pytest.fixture
def untouched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sampler, replaced by a list of the calls it got."""
    calls: list[str] = []

    def sampled(*arguments: object) -> None:
        calls.append("noise")
        raise RuntimeError("the sampler was reached")

    monkeypatch.setattr("leastnoise.release.measure.add_noise", sampled)
    return calls


def test_good_counts_do_reach_the_sampler(untouched: list[str]) -> None:
    with pytest.raises(RuntimeError, match="the sampler was reached"):
        ln.plan(STATES, epsilon=1).release([1, 2, 3, 4])
    assert untouched == ["noise"]


@pytest.mark.parametrize(
    ("counts", "says"),
    [
        ([1, 2, -SECRET, 4], "negative"),
        ([1, 2, SECRET + 0.5, 4], "whole numbers"),
        ([[SECRET, 2, 3, 4]], "one dimension"),
        ([SECRET, 2, 3], "length 4"),
        ([SECRET] * 5, "length 4"),
        (SECRET, "one dimension"),
        ([1, 2, 3, 10**10], "max_total"),
        ([1, 2, 3, 2**80], "max_total"),
        ([1, SECRET, 3, np.nan], "finite"),
        ([1, SECRET, 3, np.inf], "finite"),
        (["1", str(SECRET), "3", "4"], "not text"),
        (str(SECRET), "counts"),
        ([True, False, True, True], "truth values"),
        ([1, 2, [3], SECRET], "counts"),
        (None, "counts"),
        ([1, SECRET, None, 4], "counts"),
        ([1, SECRET, 1j, 4], "complex"),
    ],
)
def test_bad_counts_are_refused_before_any_noise(
    counts: object, says: str, untouched: list[str]
) -> None:
    with pytest.raises(InputError, match=says) as caught:
        ln.plan(STATES, epsilon=1, mechanism="nod").release(counts)
    assert "counts" in str(caught.value)
    assert str(SECRET) not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert untouched == []


@pytest.mark.parametrize("mechanism", ["auto", "optimal", "augmented"])
def test_a_search_that_would_not_fit_says_how_much_it_needs(
    mechanism: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    workload = ln.Workload(ranges(60, 500))
    monkeypatch.setattr("leastnoise.memory.free_bytes", lambda: 2**16)
    if mechanism == "auto":
        plan = ln.plan(workload, epsilon=1)
        notes = {one.mechanism: one.note for one in plan.candidates}
        assert plan.mechanism in ("nod", "nor")
        assert plan.certificate is None
        assert "GiB" in notes["optimal"]
        assert "GiB" in notes["augmented"]
    else:
        message = refusal(TooLargeError, workload, epsilon=1, mechanism=mechanism)
        assert "needs about 0.0 GiB, 0.0 GiB is free; ask fewer queries" in message


def test_queries_that_cannot_be_rebuilt_are_named() -> None:
    W = np.array([[1, 1, 0, 0], [1e-14, 0, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1]])
    message = refusal(PlanError, W, epsilon=1, mechanism="optimal")
    assert "mechanism='nod'" in message
