"""Draw docs/polytope_and_ellipsoid.svg: what the two noises ask for, on two queries.

At sensitivity 1 every column of W must lie inside the image of the unit ball under B, so that
W = B·L with no column of L longer than 1. Total error is proportional to ‖B‖²_F, hence

    Laplace    the symmetric polytope conv{±bᵢ} with the least Σ‖bᵢ‖²      that contains W
    Gaussian   the ellipsoid {B·z : ‖z‖₂ ≤ 1} with the least trace of B·Bᵀ that contains W

Both are found here by a few lines of their own, so that the picture checks the library and not
itself. Run `python docs/pictures.py` from the root; the same input gives the same bytes.
"""

from itertools import combinations
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.optimize import minimize

W = np.array([[1, 2, 3, 1, 0], [3, 3, 1, 0, 1]], dtype=float)
TARGET = Path(__file__).with_name("polytope_and_ellipsoid.svg")
BLUE, RED, INK = "#1f5f99", "#b5402a", "#222222"
GREY, FAINT = "#b9b9b9", "#777777"
KEY_FONTS = ["STIXGeneral", "DejaVu Sans"]
STYLE = {
    "svg.hashsalt": "leastnoise",
    "font.family": "STIXGeneral",
    "mathtext.fontset": "stix",
    "font.size": 12,
}


def gaussian_optimum(W: np.ndarray, steps: int = 2000) -> np.ndarray:
    """B = K^(1/4) at the q that maximises tr K^(1/2), K = W·diag(q)·Wᵀ, scaled to Δ₂ = 1."""
    q = np.full(W.shape[1], 1 / W.shape[1])
    for _ in range(steps):
        values, V = np.linalg.eigh((W * q) @ W.T)
        g = ((V.T @ W) ** 2 / np.sqrt(values)[:, None]).sum(axis=0)
        q *= (g / np.sqrt(values).sum()) ** 2
        q /= q.sum()
    t = np.sqrt(values).sum()
    B = (V * values**0.25) @ V.T * np.sqrt(g.max())
    if not np.isclose(np.sum(B**2), t**2, rtol=1e-9):
        raise RuntimeError("upper and lower bound do not meet")
    return B


def reach(B: np.ndarray, W: np.ndarray) -> float:
    """maxⱼ min{‖z‖₁ : B·z = wⱼ}; in the plane a least z uses two columns of B, so try all pairs."""
    least = np.full(W.shape[1], np.inf)
    for pair in combinations(range(B.shape[1]), 2):
        corner = B[:, pair]
        if abs(np.linalg.det(corner)) > 1e-9:
            least = np.minimum(least, np.abs(np.linalg.solve(corner, W)).sum(axis=0))
    return float(least.max())


def laplace_optimum(W: np.ndarray, restarts: int = 4) -> np.ndarray:
    """The best B with 2, 3 or 4 columns, scaled to Δ₁ = 1; more columns must earn their place."""
    rng = np.random.default_rng(0)
    best, least = np.eye(2), np.inf
    for r in (2, 3, 4):
        for _ in range(restarts):
            found = rng.normal(size=2 * r)
            for _ in range(3):  # Nelder-Mead stalls at the kinks; starting it again frees it
                found = minimize(
                    lambda b, r=r: np.sum(b**2) * reach(b.reshape(2, r), W) ** 2,
                    found,
                    method="Nelder-Mead",
                    options={"maxiter": 3000, "xatol": 1e-10, "fatol": 1e-12},
                ).x
            B = found.reshape(2, r) * reach(found.reshape(2, r), W)
            if np.sum(B**2) < least * (1 - 1e-6):
                best, least = B, np.sum(B**2)
    best = best * np.where(best.sum(axis=0) < 0, -1, 1)
    return best[:, np.argsort(np.arctan2(best[1], best[0]))]


def polygon(B: np.ndarray) -> np.ndarray:
    """Corners of conv{±bᵢ} in order; right as long as every bᵢ is a corner."""
    corners = np.hstack([B, -B])
    return corners[:, np.argsort(np.arctan2(corners[1], corners[0]))]


def ellipse(B: np.ndarray) -> np.ndarray:
    turn = np.linspace(0, 2 * np.pi, 181)
    return B @ np.vstack([np.cos(turn), np.sin(turn)])


def draw_shape(ax: Axes, outline: np.ndarray, color: str) -> None:
    ax.fill(*outline, facecolor=color, alpha=0.10, linewidth=0, zorder=2)
    ax.fill(*outline, fill=False, edgecolor=color, linewidth=1.6, zorder=3)


def draw_spokes(ax: Axes, spokes: np.ndarray, color: str) -> None:
    for spoke in spokes.T:
        arrow = {"arrowstyle": "-|>,head_width=.22,head_length=.5", "color": color, "lw": 1.2}
        ax.annotate("", xy=spoke, xytext=(0, 0), arrowprops={**arrow, "shrinkA": 0, "shrinkB": 0})


def label(ax: Axes, at: np.ndarray, text: str, color: str, shift: tuple[float, float]) -> None:
    ax.annotate(text, at, shift, textcoords="offset points", color=color, ha="center", va="center")


def draw_columns(ax: Axes) -> None:
    shifts = [(-11, 7), (12, 6), (11, -10), (3, -11), (-12, 0)]
    for j, (w, shift) in enumerate(zip(W.T, shifts, strict=True), start=1):
        ax.plot(*w, "o", color=INK, markersize=5, zorder=5)
        ax.plot(*-w, "o", markerfacecolor="white", markeredgecolor=INK, markersize=5, zorder=5)
        label(ax, w, f"$w_{j}$", INK, shift)


def dress(ax: Axes, title: str, claim: str, B: np.ndarray, color: str) -> None:
    span = 5.3
    ax.set(xlim=(-span, span), ylim=(-span, span), aspect="equal", xticks=[], yticks=[])
    ax.set_frame_on(False)
    ax.axhline(0, color="#dddddd", linewidth=0.7, zorder=0)
    ax.axvline(0, color="#dddddd", linewidth=0.7, zorder=0)
    ax.text(span, 0.2, "answer 1", color=FAINT, fontsize=10, rotation=90, ha="right")
    ax.text(-0.2, span, "answer 2", color=FAINT, fontsize=10, ha="right", va="center")
    ax.text(0.5, 1.12, title, transform=ax.transAxes, fontsize=15, color=color, ha="center")
    best = rf"{claim}: $\Vert B\Vert_F^2 = {np.sum(B**2):.2f}$"
    ax.text(0.5, 1.045, best, transform=ax.transAxes, fontsize=13, color=INK, ha="center")


def contrast(results: np.ndarray) -> str:
    return rf"noise on results: $\Vert B\Vert_F^2 = {np.sum(results**2):.0f}$"


def draw_laplace(ax: Axes) -> None:
    B = np.round(laplace_optimum(W), 4)
    results = np.eye(2) * np.abs(W).sum(axis=0).max()
    draw_shape(ax, polygon(results), GREY)
    draw_shape(ax, polygon(B), BLUE)
    draw_spokes(ax, B, BLUE)
    for i, b in enumerate(B.T, start=1):
        label(ax, b / 2, f"$b_{i}$", BLUE, (5, -10) if i == 1 else (-9, 4))
    draw_columns(ax)
    ax.text(2.72, -2.72, contrast(results), color=FAINT, rotation=45, ha="center", va="center")
    dress(ax, "Laplace asks for a polytope", "least found", B, BLUE)


def draw_gaussian(ax: Axes) -> None:
    B = np.round(gaussian_optimum(W), 4)
    results = np.eye(2) * np.linalg.norm(W, axis=0).max()
    axes, lengths, _ = np.linalg.svd(B)
    draw_shape(ax, ellipse(results), GREY)
    draw_shape(ax, ellipse(B), RED)
    draw_spokes(ax, axes * lengths * np.where(axes[1] < 0, -1, 1), RED)
    draw_columns(ax)
    below = {"ha": "center", "va": "center", "backgroundcolor": "white"}
    ax.text(0, -results[0, 0] - 0.5, contrast(results), color=FAINT, **below)
    dress(ax, "Gaussian asks for an ellipsoid", "least, proven", B, RED)


def draw() -> Figure:
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 5.9))
    figure.subplots_adjust(left=0.01, right=0.99, bottom=0.06, top=0.86, wspace=0.04)
    draw_laplace(left)
    draw_gaussian(right)
    key = "●  $w_j$: what one record in cell $j$ adds to the answers      ○  $-w_j$"
    figure.text(0.5, 0.025, key, ha="center", color=INK, fontsize=12, family=KEY_FONTS)
    return figure


if __name__ == "__main__":
    with mpl.rc_context(STYLE):
        draw().savefig(TARGET, metadata={"Date": None, "Creator": None})
