"""Verdicts follow from figures: tables made up so that a claim holds, in part, or not."""

from collections.abc import Callable, Iterator
from itertools import product

import pytest

from leastnoise.experiments.claims import CLAIMS, Finding, claim_table
from leastnoise.experiments.figure import names, read
from leastnoise.experiments.point import BOUND, LEAST_NOISE
from leastnoise.experiments.results import Results, exponent, ratio_table, sweep_table
from leastnoise.experiments.rows import Row

Error = Callable[[Row], float]


def rows(name: str, error: Error, seconds: Error) -> Iterator[Row]:
    """A row for every mechanism, data set and setting of a figure."""
    figure = read(name)
    grid = product(figure.workloads, figure.m, figure.n, figure.share, figure.gamma,
                   figure.ratio or (float("nan"),), figure.epsilon, ("a", "adult"),
                   (*figure.mechanisms, LEAST_NOISE, BOUND))  # fmt: skip
    for workload, m, n, share, gamma, ratio, epsilon, dataset, mechanism in grid:
        row = Row(workload, m, n, share, 9, mechanism, gamma, ratio, 1, 0, dataset=dataset,
                  epsilon=epsilon, delta=figure.delta)  # fmt: skip
        value = error(row)
        yield Row(**{**vars(row), "error": value, "expected": value, "lower_bound": value,
                     "seconds": seconds(row)})  # fmt: skip


def results(error: Error = lambda row: 1.0, seconds: Error = lambda row: 1.0) -> Results:
    return Results({name: list(rows(name, error, seconds)) for name in names()})


def finding(text: str, found: Results) -> Finding:
    [find] = [find for claim, find in CLAIMS.items() if text in claim]
    return find(found)


def by(mechanisms: dict[str, float]) -> Error:
    return lambda row: mechanisms.get(row.mechanism, 1.0)


@pytest.mark.parametrize(
    ("text", "error", "verdict"),
    [
        ("γ ≤ 0.1", lambda r: 1 + (r.gamma == 10) * (9 if r.delta == "0" else 99), "holds"),
        ("γ ≤ 0.1", lambda r: 1 + (r.gamma == 10) * (99 if r.delta == "0" else 9), "holds in part"),
        ("γ ≤ 0.1", lambda r: 1 + (r.gamma == 0.1), "does not hold"),
        ("below the rank", lambda r: 1 + 49 * (r.ratio == 0.8), "holds"),
        ("below the rank", lambda r: 1 + 49 * (r.ratio == 0.8) * (r.delta == "0"), "holds in part"),
        ("below the rank", lambda r: 1.0, "does not hold"),
        ("stable", lambda r: 1 + (r.ratio == 0.8), "holds"),
        ("stable", lambda r: r.ratio, "does not hold"),
        ("LM is best", by({"LM": 0.5}), "holds"),
        ("LM is best", lambda r: r.n if r.mechanism == "LRM" else 200, "holds in part"),
        ("LM is best", by({"LRM": 0.5}), "does not hold"),
        ("stops growing", lambda r: r.n**0.1, "holds"),
        ("stops growing", lambda r: r.n ** (0.1 + 0.3 * (r.workload == "WRange")), "holds in part"),
        ("stops growing", lambda r: r.n**0.5, "does not hold"),
        ("beat LM", by({"LM": 2}), "holds"),
        ("beat LM", by({"LM": 2, "HM": 3}), "holds in part"),
        ("beat LM", by({"LM": 0.5}), "does not hold"),
        ("LRM is best on", by({"LRM": 0.5}), "holds"),
        ("LRM is best on", lambda r: r.n if r.mechanism == "LM" else 999, "holds in part"),
        ("LRM is best on", by({"LM": 0.5}), "does not hold"),
        ("100 times better than LM", by({"LM": 900}), "holds"),
        ("100 times better than LM", by({"LM": 900, "LRM": 90}), "does not hold"),
        ("100 times better than LM", by({"LM": 60}), "cannot hold"),
        ("about as good as LM", by({"AM": 1.5}), "holds"),
        ("about as good as LM", by({"AM": 5}), "holds in part"),
        ("about as good as LM", by({"LM": 5}), "does not hold"),
        ("far worse on Adult", lambda r: 1 + 9 * (r.mechanism + r.dataset == "MWEMadult"), "holds"),
        ("far worse on Adult", by({"MWEM": 9}), "holds in part"),
        ("better on Adult", lambda r: 1 - 0.5 * (r.dataset == "adult"), "holds"),
        ("better on Adult", lambda r: 1 + (r.dataset == "adult"), "does not hold"),
        ("about as good as LRM\n", by({"WM": 1.5}), "holds"),
        ("about as good as LRM\n", by({"WM": 5}), "holds in part"),
        ("10 times ahead", lambda r: 1 if r.mechanism != "LRM" else r.share**2, "holds"),
        ("10 times ahead", lambda r: 1 if r.mechanism != "LRM" else r.share**0.5, "holds in part"),
        ("10 times ahead", lambda r: 1.0, "does not hold"),
        ("always best", by({"GM": 900}), "holds"),
        ("always best", by({"GM": 50}), "holds in part"),
        ("always best", by({"GM": 50, "LRM": 2}), "does not hold"),
        ("worse than GM", by({"GM": 0.5}), "holds"),
        ("worse than GM", by({"GM": 2}), "does not hold"),
    ],
)  # fmt: skip
def test_a_verdict_follows_from_the_figures(text: str, error: Error, verdict: str) -> None:
    text = "WRange, m ≥ 256" if text.endswith("\n") else text
    assert finding(text, results(error)).verdict == verdict


@pytest.mark.parametrize(
    ("text", "seconds", "verdict"),
    [
        ("linearly with r", lambda r: r.ratio, "holds"),
        ("linearly with r", lambda r: r.ratio**2, "does not hold"),
        ("20 minutes", lambda r: 1_000, "holds"),
        ("20 minutes", lambda r: 1_300, "does not hold"),
        ("linearly with n and m", lambda r: r.n * r.m, "holds"),
        ("linearly with n and m", lambda r: r.n * r.m**2, "holds in part"),
        ("linearly with n and m", lambda r: (r.n * r.m) ** 2, "does not hold"),
    ],
)
def test_a_verdict_follows_from_the_seconds(text: str, seconds: Error, verdict: str) -> None:
    assert finding(text, results(seconds=seconds)).verdict == verdict


def test_tables_have_a_line_for_every_claim_and_setting() -> None:
    found = results(by({"LRM": 4.0, LEAST_NOISE: 2.0}))
    assert len(claim_table(found).splitlines()) == 2 + len(CLAIMS)
    lines = ratio_table(found).splitlines()
    assert len(lines) == 2 + 4 * 7 + 4 * 5 + 10
    assert "| WRange | n = 8,192 | 0.2500 | 0.2500 | 0.5000 | 0.5000 |" in lines
    assert len(sweep_table(found, "gamma", "γ").splitlines()) == 2 + 4 * 6
    assert (
        sweep_table(found, "r", "r ÷ rank").splitlines()[2].startswith("| WDiscrete | 0.8 | 0.25")
    )


def test_exponents() -> None:
    assert exponent([1, 2, 4], [5, 20, 80]) == pytest.approx(2)
