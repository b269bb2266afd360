"""What the paper says of its experiments, beside what the tables of a full run say.

Each claim is a function of the tables: a sentence with the figures, and a verdict that follows from
them by a limit that stands here. docs/reproduction.md explains them.
"""

from collections.abc import Callable
from math import isfinite
from typing import NamedTuple

from leastnoise.experiments.point import LRM, MWEM, OURS
from leastnoise.experiments.results import Results, exponent


class Finding(NamedTuple):
    """What was measured, the verdict, and what the proven bound says of it where it does."""

    measured: str
    verdict: str
    bound: str = "-"


CLAIMS: dict[str, Callable[[Results], Finding]] = {}
"""The paper's sentence, shortened → its finding, in the order of its section 7."""

HOLDS, PARTLY, FAILS, IMPOSSIBLE = "holds", "holds in part", "does not hold", "cannot hold"
FAMILIES = ("WDiscrete", "WRange", "WMarginal", "WRelated")
EPSILONS = ("1", "0.1", "0.01")
LARGE = (512, 1024, 2048, 4096, 8192)

_SAME = 1.05  # times: what "no impact" may mean
_NEAR = 2.0  # times: what "comparable" or "stable" may mean
_FAR = 10.0  # times: what "an order of magnitude" means
_FLAT = 0.2  # power of n: what "stops growing" may mean
_LINEAR = 1.35  # power: what "about linear" may mean


def claim_table(results: Results) -> str:
    """Every claim with its finding, as Markdown."""
    lines = ["| the paper says | measured | the bound | so it |", "|---|---|---|---|"]
    for text, find in CLAIMS.items():
        measured, verdict, bound = find(results)
        lines.append(f"| {text} | {measured} | {bound} | {verdict} |")
    return "\n".join(lines)


def _verdict(*parts: bool) -> str:
    """Holds where all parts do, in part where some do."""
    return HOLDS if all(parts) else PARTLY if any(parts) else FAILS


def claim(text: str) -> Callable[[Callable[[Results], Finding]], Callable[[Results], Finding]]:
    """Adds a finding to `CLAIMS`."""

    def keep(find: Callable[[Results], Finding]) -> Callable[[Results], Finding]:
        CLAIMS[text] = find
        return find

    return keep


@claim("γ ≤ 0.1 is harmless; a large γ hurts at ε = 1, more under (ε, δ)")
def relaxation(results: Results) -> Finding:
    def harm(kind: str, gamma: float, epsilon: str) -> float:
        """LRM's error against that at γ = 1e-4, on the workload where it is most."""
        ratios = []
        for workload in FAMILIES:
            at = {"workload": workload, "epsilon": epsilon}
            base = results.error(f"gamma-{kind}", LRM, gamma=1e-4, **at)
            ratios.append(results.error(f"gamma-{kind}", LRM, gamma=gamma, **at) / base)
        return max(ratios)

    small = {
        kind: max(harm(kind, gamma, e) for gamma in (1e-3, 0.01, 0.1) for e in EPSILONS)
        for kind in ("epsilon", "delta")
    }
    large = {kind: harm(kind, 10, "1") for kind in ("epsilon", "delta")}
    measured = (
        f"γ ≤ 0.1 costs up to {small['epsilon'] - 1:.1%} under ε, {small['delta'] - 1:.1%} under "
        f"(ε, δ); γ = 10 at ε = 1 multiplies the error by up to {large['epsilon']:,.3g} and "
        f"{large['delta']:,.3g}"
    )
    is_harmless = max(small.values()) < _SAME
    hurts = min(large.values()) > _NEAR
    return Finding(measured, _verdict(is_harmless, hurts, large["delta"] > large["epsilon"]))


@claim("r below the rank is up to 100 times worse")
def few_rows(results: Results) -> Finding:
    worst = {}
    for kind in ("epsilon", "delta"):
        ratios = []
        for workload in FAMILIES:
            for epsilon in EPSILONS:
                at = {"workload": workload, "epsilon": epsilon}
                enough = results.error(f"r-{kind}", LRM, ratio=1.2, **at)
                ratios.append(results.error(f"r-{kind}", LRM, ratio=0.8, **at) / enough)
        worst[kind] = max(ratios)
    measured = (
        f"0.8·rank ÷ 1.2·rank: up to {worst['epsilon']:,.3g} under ε, {worst['delta']:,.3g} "
        f"under (ε, δ)"
    )
    return Finding(measured, _verdict(*(ratio > _FAR for ratio in worst.values())))


@claim("LRM is stable from r = 1.2·rank (ε) and 1.0·rank (ε, δ) on")
def enough_rows(results: Results) -> Finding:
    def spread(kind: str, least: float) -> float:
        """The largest error ÷ the least one, on the workload where it is most."""
        figure, spreads = f"r-{kind}", []
        for workload in FAMILIES:
            errors = [
                results.error(figure, LRM, ratio=ratio, workload=workload, epsilon="0.1")
                for ratio in results.figures[figure].ratio
                if ratio >= least
            ]
            spreads.append(max(errors) / min(errors))
        return max(spreads)

    pure, both = spread("epsilon", 1.2), spread("delta", 1.0)
    measured = f"errors from there on differ by up to {pure:.2f} times and {both:.3f} times"
    return Finding(measured, _verdict(pure < _NEAR, both < _SAME))


@claim("LRM's time grows linearly with r")
def time_by_rows(results: Results) -> Finding:
    powers = []
    for kind in ("epsilon", "delta"):
        figure = f"r-{kind}"
        ratios = [ratio for ratio in results.figures[figure].ratio if ratio >= 1]
        for workload in FAMILIES:
            times = [results.seconds(figure, ratio=ratio, workload=workload) for ratio in ratios]
            powers.append(exponent(ratios, times))
    measured = f"as r to the power of {min(powers):.1f} to {max(powers):.1f}"
    return Finding(measured, _verdict(*(power < _LINEAR for power in powers)))


@claim("ε, WDiscrete, small n: LM is best")
def small_discrete(results: Results) -> Finding:
    figure, parts, winners = "n-wdiscrete-epsilon", [], []
    for n in (128, 256):
        errors = results.others(figure, n=n) | {LRM: results.error(figure, LRM, n=n)}
        winners.append(min(errors, key=lambda name: errors[name]))
        against = results.ratio(figure, "LM", LRM, n=n), results.ratio(figure, "LM", OURS, n=n)
        parts.append(
            f"n = {n}: {winners[-1]} is; LM ÷ LRM {against[0]:.2f}, LM ÷ ours {against[1]:.2f}"
        )
    verdict = _verdict(*(winner == "LM" for winner in winners))
    allowed = [results.error(figure, "LM", n=n) / results.bound(figure, n=n) for n in (128, 256)]
    return Finding("; ".join(parts), verdict, f"LM ÷ bound {allowed[0]:.1f}, {allowed[1]:.1f}")


@claim("ε: LRM's error stops growing past n = 512")
def growth(results: Results) -> Finding:
    powers = {}
    for workload in FAMILIES:
        figure = f"n-{workload.lower()}-epsilon"
        powers[workload] = exponent(LARGE, [results.error(figure, LRM, n=n) for n in LARGE])
    parts = [f"{name} {power:.2f}" for name, power in powers.items()]
    measured = f"from there on like n to the power of: {', '.join(parts)}"
    bounds = [
        exponent(LARGE, [results.bound(f"n-{name.lower()}-epsilon", n=n) for n in LARGE])
        for name in FAMILIES
    ]
    verdict = _verdict(*(power < _FLAT for power in powers.values()))
    return Finding(measured, verdict, f"itself: {', '.join(f'{x:.2f}' for x in bounds)}")


@claim("ε, WRange: WM and HM beat LM from n = 512 on")
def ranges(results: Results) -> Finding:
    gains = {
        name: [results.ratio("n-wrange-epsilon", "LM", name, n=n) for n in (256, 512, 1024)]
        for name in ("WM", "HM")
    }
    parts = [f"LM ÷ {name} {', '.join(f'{g:.2f}' for g in gain)}" for name, gain in gains.items()]
    wins = [ratio > 1 for gain in gains.values() for ratio in gain[1:]]
    return Finding(f"at n = 256, 512, 1,024: {'; '.join(parts)}", _verdict(*wins))


@claim("ε: LRM is best on WMarginal and WRelated")
def best(results: Results) -> Finding:
    parts, won, far = [], [], []
    for workload in ("WMarginal", "WRelated"):
        figure = f"n-{workload.lower()}-epsilon"
        leads = {
            n: min(results.others(figure, n=n).values()) / results.error(figure, LRM, n=n)
            for n in results.figures[figure].n
        }
        won += [lead >= 1 for lead in leads.values()]
        far.append(results.error(figure, LRM, n=8192) / results.bound(figure, n=8192))
        wins = ", ".join(f"{n:,}" for n, lead in leads.items() if lead >= 1) or "none"
        parts.append(f"{workload}: at n = {wins} (next best ÷ LRM {leads[8192]:.2f} at 8,192)")
    allowed = f"LRM ÷ bound {far[0]:.1f}, {far[1]:.1f} at 8,192"
    return Finding(f"best of the paper's: {'; '.join(parts)}", _verdict(*won), allowed)


@claim("ε, n = 8,192: LRM is over 100 times better than LM on WMarginal and WRelated")
def hundredfold(results: Results) -> Finding:
    parts, gains, most = [], [], []
    for workload in ("WMarginal", "WRelated"):
        figure = f"n-{workload.lower()}-epsilon"
        gains.append(results.ratio(figure, "LM", LRM, n=8192))
        ours = results.ratio(figure, "LM", OURS, n=8192)
        most.append(results.error(figure, "LM", n=8192) / results.bound(figure, n=8192))
        parts.append(f"{workload}: LM ÷ LRM {gains[-1]:.1f}, LM ÷ ours {ours:.1f}")
    verdict = _verdict(*(gain > 100 for gain in gains)) if max(most) > 100 else IMPOSSIBLE
    return Finding("; ".join(parts), verdict, f"LM ÷ bound {most[0]:.1f}, {most[1]:.1f}")


@claim("ε: AM and ESM are about as good as LM on WMarginal and WRelated")
def like_lm(results: Results) -> Finding:
    parts, near = [], []
    for name in ("AM", "ESM"):
        ratios = [
            results.ratio(f"n-{workload}-epsilon", name, "LM", n=n)
            for workload in ("wmarginal", "wrelated")
            for n in (256, 1024)
        ]
        near += [1 / _NEAR < ratio < _NEAR for ratio in ratios]
        parts.append(f"{name} ÷ LM {min(ratios):.2g} to {max(ratios):.2g}")
    return Finding(f"n = 256 and 1,024: {'; '.join(parts)}", _verdict(*near))


@claim("ε, n ≥ 4,096: MWEM is about as good as LRM on two of the data sets, far worse on Adult")
def data_dependent(results: Results) -> Finding:
    parts, near = [], []
    for dataset in results.datasets("n-wrange-epsilon"):
        ratios = [
            results.seen(f"n-{workload.lower()}-epsilon", MWEM, n=n, dataset=dataset)
            / results.error(f"n-{workload.lower()}-epsilon", LRM, n=n)
            for workload in FAMILIES
            for n in (4096, 8192)
        ]
        comparable = sum(1 / _NEAR < ratio < _NEAR for ratio in ratios)
        near.append(comparable > len(ratios) / 2)
        parts.append(f"{dataset} {min(ratios):.2g} to {max(ratios):,.2g}")
    *others, adult = near
    measured = f"MWEM ÷ LRM over the workloads: {'; '.join(parts)}"
    return Finding(measured, _verdict(*others, not adult), "not for MWEM, which is biased")


@claim("ε, by m: MWEM is better on Adult than on other data, on WDiscrete and WRange")
def sparse_data(results: Results) -> Finding:
    parts, wins = [], []
    for workload in ("WDiscrete", "WRange"):
        figure = f"m-{workload.lower()}-epsilon"
        *others, adult = results.datasets(figure)
        ratios = [
            results.seen(figure, MWEM, m=m, dataset=adult)
            / min(results.seen(figure, MWEM, m=m, dataset=other) for other in others)
            for m in results.figures[figure].m
        ]
        wins += [ratio < 1 for ratio in ratios]
        parts.append(f"{workload} {min(ratios):.2g} to {max(ratios):.2g}")
    return Finding(f"Adult ÷ the better of the others: {'; '.join(parts)}", _verdict(*wins))


@claim("ε, WRange, m ≥ 256: WM and HM are about as good as LRM")
def many_ranges(results: Results) -> Finding:
    ratios = {
        name: [results.ratio("m-wrange-epsilon", name, LRM, m=m) for m in (256, 512, 1024)]
        for name in ("WM", "HM")
    }
    parts = [f"{name} ÷ LRM {', '.join(f'{r:.2f}' for r in some)}" for name, some in ratios.items()]
    near = [ratio < _NEAR for some in ratios.values() for ratio in some]
    return Finding(f"at m = 256, 512, 1,024: {'; '.join(parts)}", _verdict(*near))


@claim("WRelated, low s: LRM is 10 times ahead (ε); the gap closes as s grows")
def low_rank(results: Results) -> Finding:
    def lead(figure: str, share: float) -> float:
        """The next best of the paper's ÷ LRM."""
        following = min(results.others(figure, share=share).values())
        return following / results.error(figure, LRM, share=share)

    shares, parts = (0.1, 0.2, 0.5, 1.0), []
    for figure, label in (("s-epsilon", "ε"), ("s-delta", "(ε, δ)")):
        parts.append(f"{label}: {', '.join(f'{lead(figure, share):.2f}' for share in shares)}")
    measured = f"next best ÷ LRM at s = 0.1, 0.2, 0.5, 1.0·min(m, n): {'; '.join(parts)}"
    first, last = lead("s-epsilon", 0.1), lead("s-epsilon", 1.0)
    far = [
        results.error("s-epsilon", LRM, share=share) / results.bound("s-epsilon", share=share)
        for share in (0.1, 1.0)
    ]
    allowed = f"LRM ÷ bound {far[0]:.1f} at s = 0.1, {far[1]:.1f} at 1.0 (ε)"
    return Finding(measured, _verdict(first > _FAR, first > last), allowed)


@claim("(ε, δ): LRM is always best, over 100 times better than GM")
def always_best(results: Results) -> Finding:
    behind, gains = [], []
    for figure, at in results.sweeps("1e-4"):
        following = min(results.others(figure, **at).values())
        behind.append(results.error(figure, LRM, **at) / following)
        gains.append(results.ratio(figure, "GM", LRM, **at))
    lost = [ratio for ratio in behind if ratio > 1.001]
    measured = (
        f"best at {len(behind) - len(lost)} of {len(behind)} settings"
        + (f", else at most {max(lost) - 1:.1%} behind" if lost else "")
        + f"; GM ÷ LRM is {min(gains):.2g} to {max(gains):,.3g}"
    )
    return Finding(measured, _verdict(not lost or max(lost) < _SAME, max(gains) > 100))


@claim("(ε, δ), WMarginal: WM and HM are worse than GM")
def marginals(results: Results) -> Finding:
    figure, parts, least = "n-wmarginal-delta", [], float("inf")
    for name in ("WM", "HM"):
        ratios = [results.ratio(figure, name, "GM", n=n) for n in results.figures[figure].n]
        least = min(least, *ratios)
        parts.append(f"{name} ÷ GM {min(ratios):.2g} to {max(ratios):.2g}")
    return Finding("; ".join(parts), HOLDS if least > 1 else FAILS)


@claim("every run of LRM takes less than 20 minutes")
def minutes(results: Results) -> Finding:
    rows = [row for row in results.all() if row.mechanism == LRM and isfinite(row.seconds)]
    longest = max(rows, key=lambda row: row.seconds)
    measured = (
        f"the longest {longest.seconds / 60:.1f} minutes on one thread "
        f"({longest.workload}, {longest.m} × {longest.n:,}, r = {longest.r:,})"
    )
    return Finding(measured, HOLDS if longest.seconds < 20 * 60 else FAILS)


@claim("LRM's time grows about linearly with n and m")
def time_by_size(results: Results) -> Finding:
    by_n, by_m = [], []
    for kind in ("epsilon", "delta"):
        figure = results.figures[f"scale-{kind}"]
        large = [n for n in figure.n if n >= 1024]
        for workload in ("WDiscrete", "WMarginal", "WRelated"):
            at = {"workload": workload}
            by_n.append(
                exponent(large, [results.seconds(figure.name, m=256, n=n, **at) for n in large])
            )
            by_m.append(
                exponent(
                    figure.m, [results.seconds(figure.name, m=m, n=4096, **at) for m in figure.m]
                )
            )
    measured = (
        f"as n to the power of {min(by_n):.1f} to {max(by_n):.1f} from 1,024 on; as m to the power "
        f"of {min(by_m):.1f} to {max(by_m):.1f} at n = 4,096"
    )
    return Finding(measured, _verdict(*(power < _LINEAR for power in (*by_n, *by_m))))
