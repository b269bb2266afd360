"""Strategies meet noise, on paper: what each pair would cost, and the best one made measurable."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from leastnoise.errors import InputError, PlanError
from leastnoise.release.calibrate import KINDS, Noise, calibrate, unit_scale, unit_variance
from leastnoise.release.integers import IntegerStrategy
from leastnoise.release.privacy import Privacy
from leastnoise.release.quantise import quantise, rounded
from leastnoise.strategy.choose import Attempt
from leastnoise.strategy.goal import Goal
from leastnoise.strategy.strategy import Block, Draft, Part, Strategy, rebuild
from leastnoise.workload.fit import REBUILT, RECOGNISABLE, misfit
from leastnoise.workload.matrices import Matrix, row_sizes
from leastnoise.workload.workload import Workload


class Proof(NamedTuple):
    """What a bound is recomputed from: probabilities of the classes of cells, and of the queries.

    Total: (‖diag(√w)·W·diag(√q)‖_*)²; worst query: (‖diag(√(w·p))·W·diag(√q)‖_*)²; times the least
    variance that any noise needs at sensitivity 1.
    """

    q: np.ndarray
    p: np.ndarray | None = None


@dataclass(frozen=True)
class Certificate:
    """No unbiased linear strategy W = BL with independent Laplace or Gaussian noise that keeps
    the same promise has less error than `lower_bound`; the plan has `achieved`.
    """

    lower_bound: float
    achieved: float
    proof: Proof

    @property
    def gap(self) -> float:
        """How far above the bound, as a fraction of it."""
        return self.achieved / self.lower_bound - 1


@dataclass(frozen=True)
class Candidate:
    """A mechanism under one noise: its expected error before rounding, infinite if not tried."""

    mechanism: str
    noise: str
    expected_error: float
    seconds: float
    note: str = ""


@dataclass(frozen=True)
class Offer:
    """A draft and its price under one noise."""

    draft: Draft
    price: Candidate


@dataclass(frozen=True)
class Measurable:
    """A draft rounded to integers: what is measured, the noise it needs, the bias left.

    `bias` bounds how far each answer may be shifted because B·L_q is not W: by rounding, or because
    the draft was relaxed.
    """

    strategy: Strategy
    integers: IntegerStrategy
    noise: Noise
    bias: np.ndarray
    is_relaxed: bool = False


def noises(privacy: Privacy, wanted: str = "auto") -> tuple[str, ...]:
    """The noises that can keep the promise; `wanted` alone if it is not "auto"."""
    if wanted == "auto":
        can_laplace = privacy.epsilon is not None
        can_gaussian = privacy.rho is not None or privacy.delta > 0
        return tuple(
            kind for kind, can in zip(KINDS, (can_laplace, can_gaussian), strict=True) if can
        )
    if wanted not in KINDS:
        raise InputError(f"noise must be 'auto', 'laplace' or 'gaussian', not {wanted!r}")
    unit_scale(privacy, wanted)  # refuses a noise that cannot keep this promise
    return (wanted,)


def offers(attempts: Sequence[Attempt], goal: Goal, privacy: Privacy) -> list[Offer]:
    """Every draft under every noise it is for, best first; at equal error the earlier mechanism."""
    priced = [
        Offer(one.draft, Candidate(one.mechanism, kind, error, one.seconds, one.note))
        for one in attempts
        if one.draft is not None
        for kind in one.noises
        for error in [unit_variance(privacy, kind) * one.draft.unit_error(goal, kind)]
    ]
    return sorted(priced, key=lambda offer: float(f"{offer.price.expected_error:.9g}"))


def trials(attempts: Sequence[Attempt], privacy: Privacy) -> Iterator[Candidate]:
    """Where a search for Laplace noise started, and how far it came from there."""
    for one in attempts:
        for trial in one.draft.trials if one.draft else ():
            error = unit_variance(privacy, "laplace") * trial.error
            yield Candidate(one.mechanism, "laplace", error, trial.seconds, f"from {trial.label}")


def candidates(attempts: Sequence[Attempt], priced: Sequence[Offer]) -> Iterator[Candidate]:
    """The offers as a reader sees them, then what was not tried and why."""
    yield from (offer.price for offer in priced)
    for one in attempts:
        if one.draft is None:
            noise = one.noises[0] if len(one.noises) == 1 else ""
            yield Candidate(one.mechanism, noise, np.inf, one.seconds, one.note)


def lower_bound(attempts: Sequence[Attempt], privacy: Privacy) -> tuple[float, Proof] | None:
    """The largest proven bound at the least variance that any allowed noise needs."""
    bounds = [one.draft.bound for one in attempts if one.draft and one.draft.bound]
    if not bounds:
        return None
    best = max(bounds, key=lambda bound: bound.lower)
    least = replace(privacy, calibration="analytic")
    variance = min(unit_variance(least, kind) for kind in noises(least))
    return best.lower * variance, Proof(best.q, best.p)


def make_measurable(
    offer: Offer, workload: Workload, privacy: Privacy, max_total: int
) -> Measurable:
    """Round L to integers, rebuild B from them, calibrate, and bound the bias that is left."""
    parts, kind = offer.draft.parts, offer.price.noise
    integers = quantise(
        [(part.coefficients, part.basis) for part in parts],
        max_total,
        unit_scale=unit_scale(privacy, kind),
        kind=kind,
    )
    blocks = tuple(
        Block(part.cells, L, _rebuilt(part, integers.k))
        for part, L in zip(parts, integers.blocks, strict=True)
    )
    strategy = Strategy(blocks, integers.k)
    off = misfit(workload, blocks)
    if not offer.draft.is_relaxed:
        is_exact = all(part.is_exact for part in parts)
        require_rebuilt(workload, off, REBUILT if is_exact else RECOGNISABLE)
    return Measurable(
        strategy,
        integers,
        calibrate(integers, privacy, kind),
        bias=max_total * off,
        is_relaxed=offer.draft.is_relaxed,
    )


def _rebuilt(part: Part, k: int) -> Matrix:
    """B for the measured integers: R·T_q⁺ with the rounded T, or with 2ᵏT where L was rounded."""
    if part.known is not None:
        return part.known * 2.0**-k
    whole = rounded(part.coefficients, k) if part.is_exact else None
    return rebuild(part.combine, part.coefficients * 2.0**k if whole is None else whole)


def require_rebuilt(workload: Workload, off: np.ndarray, tolerance: float) -> None:
    """Refuse a strategy that would answer something else, a tiny row with 0 say."""
    is_off = ~(off <= tolerance * row_sizes(workload.matrix))
    if is_off.any():
        worst = workload.names[int(np.flatnonzero(is_off)[0])]
        raise PlanError(
            f"query {worst!r} would be off by more than {tolerance} of its largest coefficient; "
            f"bring the rows of the workload to comparable size, or use mechanism='nod'"
        )
