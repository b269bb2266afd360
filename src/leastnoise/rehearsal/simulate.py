"""Answers as a plan would give them, with noise that a seed decides. Only for public counts."""

from typing import TYPE_CHECKING, Any

import numpy as np

from leastnoise.errors import InputError
from leastnoise.rehearsal.mwem import Rehearsal, multiplicative_weights
from leastnoise.release.counts import checked_counts, class_counts
from leastnoise.release.privacy import whole
from leastnoise.strategy.ascent import checked_seed

if TYPE_CHECKING:
    from leastnoise.plan import Plan

_TOGETHER = 2**22  # noises drawn at a time


def rehearse(plan: "Plan | Rehearsal", counts: Any, runs: int = 100, seed: int = 0) -> np.ndarray:
    """Noisy answers to public or made-up counts, a row for each of `runs` rehearsals.

    The seed decides the noise, so nothing here is private: for data about people there is
    `plan.release`.
    """
    if not isinstance(plan, Rehearsal) and not hasattr(plan, "measurable"):
        raise InputError("rehearse takes a plan; make one with ln.plan")
    runs, random = whole(runs, "runs"), np.random.default_rng(checked_seed(seed))
    checked = checked_counts(counts, plan.workload.shape[1], plan.max_total)
    if isinstance(plan, Rehearsal):
        return multiplicative_weights(plan, checked, runs, random)
    return _linear(plan, checked, runs, random)


def _linear(plan: "Plan", counts: np.ndarray, runs: int, random: np.random.Generator) -> np.ndarray:
    """B·(L_q·x + z), z rounded from continuous noise of the plan's scale."""
    answers: np.ndarray = np.zeros((runs, len(plan.workload)))
    answers += sum(part.answers for part in plan.given)
    noise = plan.measurable.noise
    draw = random.laplace if noise.kind == "laplace" else random.normal
    for block in plan.strategy.blocks:
        x = class_counts(counts, block.cells, block.L.shape[1])
        answers += np.asarray(block.B @ np.asarray(block.L @ x).astype(np.float64))
        step = max(1, _TOGETHER // block.L.shape[0])
        for start in range(0, runs, step):
            part = answers[start : start + step]
            z = np.rint(draw(0.0, noise.scale, (block.L.shape[0], len(part))))
            part += np.asarray(block.B @ z).T
    return answers
