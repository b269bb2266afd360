"""Strategies for Laplace noise: every class by itself, and p queries more.

    L = [I; Θ]·diag(1/d),  d ≥ 1 + Σᵢ|Θᵢⱼ|      so Δ₁ ≤ 1, and W is answered exactly whatever Θ is
    ‖W·L⁺‖²_F = ‖N‖²_F − tr(N·Θᵀ·(I + ΘΘᵀ)⁻¹·Θ·Nᵀ),  N = W·diag(d)

Θ = 0 is noise on data; a large Θ leaves the classes next to no weight, so strategies of few rows
are reached too. Θ = P − N with P, N ≥ 0, and d = 1 + Σᵢ(Pᵢⱼ + Nᵢⱼ), so that a column may stay
below 1 where that helps: the best strategy for the paper's second example has a column of 3/4.

The problem is not convex. The descent starts at many Θ (`starts`): random ones, some of them
signed, trees, the queries themselves and their complements, and whatever other mechanisms propose.
All are followed a little, the better half further, the best to the end. Value and gradient cost
O(p·s·n), never n × n where that is more. docs/pure.md tells what each idea gave.

The parametrisation is that of McKenna, Miklau, Hay & Machanavajjhala, *Optimizing error of
high-dimensional statistical queries under differential privacy* (PVLDB 2018), with signs, on
merged classes and rotated rows.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import Any

import numpy as np
import scipy.sparse as sparse

from leastnoise.memory import require
from leastnoise.strategy.ascent import Progress, Search
from leastnoise.strategy.objective import Objective
from leastnoise.strategy.problem import Problem
from leastnoise.strategy.quasinewton import Descent
from leastnoise.strategy.starts import LARGEST, Start, random_start, starts
from leastnoise.strategy.strategy import Draft, Part, Trial
from leastnoise.workload.matrices import dense, scale_rows

_PATIENCE = 10.0  # seconds of improvement where no deadline is given
_SPEED = 2e10  # operations a second; effort is counted in them, so that a seed repeats a search
_STEPS = 30  # for each start
_STAGES = ((12, 100), (5, 200), (3, 300), (2, 400))  # how many go on, and for how many steps
_SHARE = 0.3  # of the effort that is left, for each stage
_FOR_TOTAL = 0.5  # of effort and time, where the worst query is what counts in the end
_COST_OF_NORMS = 3.0  # of the total: each query's variance for itself
_LARGE = 2**17  # variables of a start beyond which its curvature is not kept while others run
_ALIKE = 1e-3  # relative difference of figures at which two runners count as one
_STRETCH = 10  # of a Θ that wants to grow: 38.04 becomes 38.001 on the paper's second example
_WORTH_DOUBLING = 0.002  # the gain of the last doubling of p that makes another worth its time
_ROUGH, _FINE = 1e-5, 1e-9  # relative decrease at which a descent ends
_MOST_STEPS = 20_000
_EXPONENTS = (2, 4, 8, 16, 32, 64, 128)  # of the norm that grows into the worst query


def augmented(problem: Problem, search: Search, *, drafts: Sequence[Draft] = ()) -> Draft:
    """The best Θ found, as a draft over the workload's classes; `drafts` are more to start from."""
    workload = problem.workload
    queries, classes = workload.matrix.shape
    needed = 8 * (4 * min(queries, classes) * classes + queries * classes)
    require(needed, f"optimising {queries} queries over {classes} classes", "ask fewer queries")
    exponents: tuple[int, ...] = ()
    if problem.goal.objective == "total":
        matrix = problem.reduced.matrix
    else:
        matrix = dense(scale_rows(problem.goal.row_factors, workload.matrix))
        exponents = _EXPONENTS
    found = _Search(search.place(matrix), exponents, search)
    positive, negative = found.best(problem, drafts)
    theta = positive - negative
    theta = sparse.csr_array(theta[theta.any(axis=1)])  # a zero row is measured for nothing
    scale = sparse.diags_array(1 / (1 + (positive + negative).sum(axis=0)))
    scaled = sparse.csr_array(sparse.vstack([sparse.eye_array(classes), theta]) @ scale)
    part = Part(workload.cells, scaled, None, workload.matrix, is_exact=True)
    return Draft("augmented", (part,), note=f"from {found.label}", trials=found.trials)


class _Late(Exception):
    """The deadline has passed, or the effort is spent; the best so far is kept."""


@dataclass(frozen=True)
class _Runner:
    """A start and its descent, over (P, N) or P alone."""

    label: str
    descent: Descent
    shape: tuple[int, ...]

    @property
    def rows(self) -> int:
        """p."""
        return self.shape[1]

    @property
    def signs(self) -> np.ndarray:
        return self.descent.x.reshape(self.shape)


class _Search:
    """Many starts, ever fewer of them followed ever further; within the deadline and the effort."""

    def __init__(self, matrix: Any, exponents: tuple[int, ...], search: Search) -> None:
        self.objective = Objective(matrix)
        self.exponents, self.search = exponents, search
        self.columns = matrix.shape[1]
        self.random = np.random.default_rng(search.seed)
        self.started, self.steps = monotonic(), 0
        self.patience = np.inf if search.has_deadline else _PATIENCE * _SPEED
        self.spent = self.allowed = 0.0
        self.stop_at = search.stop_at
        self.figure, self.found = np.inf, np.zeros((2, 1, self.columns))
        self.label = self.followed = "noise on data"
        self.tried: dict[str, Trial] = {}
        self.counts_worst = False
        self._allow(1)
        with suppress(_Late):
            self._loss(self.found, 1)

    def best(self, problem: Problem, drafts: Sequence[Draft]) -> np.ndarray:
        """(P, N) of the least figure found; never worse than Θ = 0."""
        self._allow(_FOR_TOTAL if self.exponents else 1)
        chosen: list[_Runner] = []
        with suppress(_Late):
            chosen = self._chosen(problem, drafts)
            for one in chosen:
                self._finish(one)
        if self.exponents:
            self._allow(1)
            self._turn_to_the_worst()
            with suppress(_Late):
                for signs in (self.found, *(one.signs for one in chosen)):
                    self._grow_norm(signs)
        return _both(self.found)

    def _grow_norm(self, signs: np.ndarray) -> None:
        """Through ever higher norms of the variances."""
        for exponent in self.exponents:
            runner = self._begun(Start(self.label, signs), exponent)
            self._run(runner, _FINE, _MOST_STEPS)
            signs = runner.signs
        self._polish(self.exponents[-1])

    def _turn_to_the_worst(self) -> None:
        """From here on the largest variance is what counts; of the total's best and Θ = 0."""
        self.figure, self.counts_worst = np.inf, True
        for signs in (_both(self.found), np.zeros((2, 1, self.columns))):
            with suppress(_Late):
                self._loss(signs, self.exponents[0])

    def _allow(self, share: float) -> None:
        """Effort and time up to a share of all there is."""
        self.allowed = share * self.patience
        self.stop_at = self.started + share * (self.search.stop_at - self.started)

    @property
    def trials(self) -> tuple[Trial, ...]:
        """How far each start came, but for the one that won."""
        return tuple(one for one in self.tried.values() if one.label != self.label)

    def _chosen(self, problem: Problem, drafts: Sequence[Draft]) -> list[_Runner]:
        """What is left of all starts after short runs, best first."""
        field = []
        for start in starts(self.objective, problem, drafts, self.random):
            field.append(self._begun(start))
            self._run(field[-1], _ROUGH, _STEPS)
        for kept, steps in _STAGES:
            field = self._affordable(_different(field)[:kept], steps)
            for one in field:
                self._run(one, _ROUGH, steps)
        return _different(field)

    def _affordable(self, field: Sequence[_Runner], steps: int) -> list[_Runner]:
        """The best ones, as many as a share of the effort pays for, but one at least."""
        costs = [
            0 if one.descent.has_settled else steps * self.objective.operations(one.rows)
            for one in field
        ]
        within = np.cumsum(costs) <= _SHARE * (self.allowed - self.spent)
        return [one for one, can in zip(field, within, strict=True) if can] or list(field[:1])

    def _finish(self, runner: _Runner) -> None:
        """To the end; with more rows, random ones, while those pay; and with both signs."""
        self._run(runner, _ROUGH, _MOST_STEPS)
        gain = 1.0
        while gain > _WORTH_DOUBLING and runner.rows < self.columns:
            signs = runner.signs
            more = random_start(runner.rows, self.columns, len(signs) > 1, self.random).signs
            wider = self._begun(Start(runner.label, np.concatenate([signs, more], axis=1)))
            self._run(wider, _ROUGH, _MOST_STEPS)
            gain = 1 - wider.descent.value / runner.descent.value
            runner = min(runner, wider, key=lambda one: one.descent.value)
        self._run(self._begun(Start(runner.label, _both(runner.signs))), _FINE, _MOST_STEPS)
        self._polish(1)

    def _polish(self, exponent: int) -> None:
        """On from the best, and from a larger Θ where that is better: the way there is flat."""
        runner = self._begun(Start(self.label, self.found), exponent)
        self._run(runner, _FINE, _MOST_STEPS)
        larger = Start(self.label, np.minimum(_STRETCH * self.found, LARGEST))
        stretched = self._begun(larger, exponent)
        if stretched.descent.value < runner.descent.value:
            self._run(stretched, _FINE, _MOST_STEPS)

    def _begun(self, start: Start, exponent: int = 1) -> _Runner:
        """A runner at its start; for the worst query both signs are always there."""
        self.followed = start.label
        signs = _both(start.signs) if self.counts_worst else start.signs

        def evaluate(flat: np.ndarray) -> tuple[float, np.ndarray]:
            value, gradient = self._loss(flat.reshape(signs.shape), exponent)
            return value, gradient.ravel()

        return _Runner(start.label, Descent(evaluate, signs.ravel(), LARGEST), signs.shape)

    def _run(self, runner: _Runner, tolerance: float, steps: int) -> None:
        began, self.followed = monotonic(), runner.label
        try:
            runner.descent.run(tolerance, steps)
        finally:
            if runner.descent.x.size > _LARGE:
                runner.descent.forget()
            if not self.exponents:
                self._note(runner.label, runner.descent.value, monotonic() - began)

    def _note(self, label: str, error: float, seconds: float) -> None:
        """The least error from this start, and its seconds in all."""
        before = self.tried.get(label, Trial(label, np.inf, 0.0))
        self.tried[label] = Trial(label, min(before.error, error), before.seconds + seconds)

    def _loss(self, signs: np.ndarray, exponent: int) -> tuple[float, np.ndarray]:
        """Value and gradient; the best is remembered, the callback told, the clock watched."""
        if self.counts_worst:
            value, gradient, figure = self.objective.loss(signs, exponent)
        else:
            value, gradient = self.objective.total(signs)
            figure = value
        if figure < self.figure:
            self.figure, self.found, self.label = figure, signs.copy(), self.followed
        self.steps += 1
        cost = self.objective.operations(signs.shape[1])
        self.spent += _COST_OF_NORMS * cost if self.counts_worst else cost
        now = monotonic()
        self.search.report(Progress("augmented", self.steps, self.figure, 0.0, now - self.started))
        if now >= self.stop_at or self.spent > self.allowed:
            raise _Late
        return value, gradient


def _both(signs: np.ndarray) -> np.ndarray:
    """(P, N), also where N was left out."""
    return signs if len(signs) > 1 else np.concatenate([signs, np.zeros_like(signs)])


def _different(field: Sequence[_Runner]) -> list[_Runner]:
    """Best first, without those that stand where two better ones do, by their figures."""
    kept: list[_Runner] = []
    for one in sorted(field, key=lambda one: one.descent.value):
        alike = [
            better for better in kept if one.descent.value <= better.descent.value * (1 + _ALIKE)
        ]
        if len(alike) < 2:
            kept.append(one)
    return kept
