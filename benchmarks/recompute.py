"""Errors and bounds from first principles, without a solver: a certificate stands by itself."""

import numpy as np

import leastnoise as ln


def unit_error(plan: ln.Plan, weights: np.ndarray | None = None) -> float:
    """‖√w·B‖²_F·Δ₂², from the integers that are measured and the B that rebuilds."""
    block = plan.strategy.blocks[0]
    L, B = _dense(block.L) / 2.0**plan.strategy.k, _dense(block.B) * 2.0**plan.strategy.k
    loads = np.ones(len(B)) if weights is None else weights
    return float((loads[:, None] * B**2).sum() * (L**2).sum(axis=0).max())


def unit_bound(plan: ln.Plan) -> float:
    """(‖W·diag(√q)‖_*)²/Σq: no strategy has less unit error, for any q ≥ 0 over classes."""
    q = np.clip(plan.certificate.proof.q, 0, None)
    scaled = _dense(plan.workload.matrix) * np.sqrt(q)
    if scaled.shape[1] > scaled.shape[0]:
        scaled = np.linalg.qr(scaled.T, mode="r")
    return float(np.linalg.svd(scaled, compute_uv=False).sum() ** 2 / q.sum())


def gap(plan: ln.Plan) -> float:
    return unit_error(plan) / unit_bound(plan) - 1


def misfit(plan: ln.Plan) -> float:
    """max|W − B·L_q| over the original cells."""
    block = plan.strategy.blocks[0]
    rebuilt = _dense(block.B @ block.L.astype(float))
    used = block.cells >= 0
    return float(np.abs(plan.workload.dense()[:, used] - rebuilt[:, block.cells[used]]).max())


def _dense(matrix: object) -> np.ndarray:
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)
