"""Errors and bounds from first principles, without a solver: a certificate stands by itself."""

import numpy as np

import leastnoise as ln


def squares(plan: ln.Plan) -> np.ndarray:
    """wᵢ·‖Bᵢ‖² of each query, from the B that rebuilds."""
    return plan.goal.weights * sum((_dense(b.B) ** 2).sum(axis=1) for b in plan.strategy.blocks)


def sensitivity_squared(plan: ln.Plan, norm: int) -> float:
    """Δ₁² or Δ₂², from the integers that are measured."""
    blocks = [np.abs(_dense(block.L).astype(float)) for block in plan.strategy.blocks]
    sizes = [float((L**norm).sum(axis=0).max()) for L in blocks]
    return sum(sizes) ** (2 / norm)


def unit_error(plan: ln.Plan, norm: int = 2) -> float:
    """‖√w·B‖²_F·Δ², or maxᵢ wᵢ‖Bᵢ‖²·Δ² if the plan is for the worst query."""
    each = squares(plan)
    figure = each.sum() if plan.goal.objective == "total" else each.max()
    return float(figure) * sensitivity_squared(plan, norm)


def unit_bound(plan: ln.Plan) -> float:
    """(‖diag(√(w·p))·W·diag(√q)‖_*)², for any p ≥ 0 over queries and q ≥ 0 over classes, Σ = 1;
    p = 1 for the total. No strategy has less unit error."""
    q = _probabilities(plan.certificate.proof.q)
    p = 1.0 if plan.certificate.proof.p is None else _probabilities(plan.certificate.proof.p)
    rows = np.sqrt(plan.goal.weights * p)
    scaled = rows[:, None] * _dense(plan.workload.matrix) * np.sqrt(q)
    if scaled.shape[1] > scaled.shape[0]:
        scaled = np.linalg.qr(scaled.T, mode="r")
    return float(np.linalg.svd(scaled, compute_uv=False).sum() ** 2)


def gap(plan: ln.Plan) -> float:
    """How far a plan for Gaussian noise is above the bound."""
    return unit_error(plan) / unit_bound(plan) - 1


def misfit(plan: ln.Plan) -> float:
    """max|W − B·L_q| over the original cells."""
    block = plan.strategy.blocks[0]
    rebuilt = _dense(block.B @ block.L.astype(float))
    used = block.cells >= 0
    return float(np.abs(plan.workload.dense()[:, used] - rebuilt[:, block.cells[used]]).max())


def misfit_norm(plan: ln.Plan) -> float:
    """‖W − B·L‖_F over the original cells."""
    block = plan.strategy.blocks[0]
    rebuilt = _dense(block.B @ block.L.astype(float))
    used = block.cells >= 0
    return float(np.linalg.norm(plan.workload.dense()[:, used] - rebuilt[:, block.cells[used]]))


def _probabilities(values: np.ndarray) -> np.ndarray:
    return np.clip(values, 0, None) / np.clip(values, 0, None).sum()


def _dense(matrix: object) -> np.ndarray:
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)
