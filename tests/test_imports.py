"""Who may import whom, read off the source, and what `import leastnoise` costs."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import leastnoise

PACKAGE = Path(leastnoise.__file__).parent
RECOMPUTE = Path(__file__).parents[1] / "benchmarks" / "recompute.py"

MAY_IMPORT = {
    "release": {"errors", "release"},
    "workload": {"errors", "memory", "workload"},
    "strategy": {"errors", "memory", "workload", "strategy"},
}
MAY_NOT_IMPORT = {
    "data": {"strategy", "release", "plan"},
    "strategy": {"release", "answers", "plan", "pricing"},
    "release": {"strategy", "answers", "plan", "pricing"},
}
SOLVERS_MAY_IMPORT = {
    "adaptive": {"ascent", "problem", "strategy"},
    "low_rank": {"ascent", "goal", "multipliers", "problem", "spanning", "strategy"},
    "multipliers": {"ascent", "strategy"},
    "semidefinite": {"ascent", "problem", "strategy"},
    "smoothing": {"ascent", "problem", "strategy"},
    "spanning": {"problem", "strategy"},
    "tree": {"ascent", "goal", "problem", "strategy"},
    "wavelet": {"ascent", "problem", "strategy"},
}
LOADED_ONLY_WHERE_NEEDED = [
    "cvxpy", "dp_accounting", "ibis", "joblib", "matplotlib", "mpmath", "opendp", "pandas",
    "pyarrow", "rich", "scipy.optimize", "scipy.stats", "torch", "typer",
]  # fmt: skip


def imported(source: str) -> Iterator[str]:
    """The full name of everything imported, also inside functions and for type checkers."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute here"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def ours(folder: str) -> set[tuple[str, str]]:
    """(file, part of leastnoise that it imports) for the files of a folder."""
    return {
        (file.name, name.split(".")[1])
        for file in (PACKAGE / folder).rglob("*.py")
        for name in imported(file.read_text(encoding="utf-8"))
        if name.startswith("leastnoise.")
    }


def test_imports_are_found_wherever_they_stand() -> None:
    source = """
import leastnoise.plan
from leastnoise import compare, errors as e
def f():
    from leastnoise.release.privacy import Privacy
    if TYPE_CHECKING:
        import numpy as np, leastnoise.strategy.goal
"""
    assert set(imported(source)) == {
        "leastnoise.plan", "leastnoise.compare", "leastnoise.errors",
        "leastnoise.release.privacy.Privacy", "numpy", "leastnoise.strategy.goal",
    }  # fmt: skip


@pytest.mark.parametrize("folder", MAY_IMPORT)
def test_a_folder_imports_only_what_it_may(folder: str) -> None:
    found = ours(folder)
    assert len({file for file, _ in found}) > 3
    assert {(file, part) for file, part in found if part not in MAY_IMPORT[folder]} == set()


@pytest.mark.parametrize("folder", MAY_NOT_IMPORT)
def test_a_folder_never_imports_what_it_must_not(folder: str) -> None:
    assert {(file, part) for file, part in ours(folder) if part in MAY_NOT_IMPORT[folder]} == set()


@pytest.mark.parametrize("solver", SOLVERS_MAY_IMPORT)
def test_a_solver_imports_no_other_solver(solver: str) -> None:
    """What two solvers find independently of each other is worth comparing."""
    source = (PACKAGE / "strategy" / f"{solver}.py").read_text(encoding="utf-8")
    parts = [name.split(".") for name in imported(source)]
    found = {part[2] for part in parts if part[:2] == ["leastnoise", "strategy"]}
    assert found
    assert found - SOLVERS_MAY_IMPORT[solver] == set()


def test_recomputing_a_bound_uses_no_solver() -> None:
    """Of leastnoise it knows the type of a plan; nothing of scipy but dense and sparse matrices."""
    source = RECOMPUTE.read_text(encoding="utf-8")
    modules = set(imported(source))
    assert not [name for name in modules if name.startswith(("leastnoise.", "benchmarks"))]
    assert not [name for name in modules if name.startswith(("scipy.optimize", "cvxpy"))]
    used = [
        node.attr
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Attribute)
        if isinstance(node.value, ast.Name) and node.value.id in ("ln", "leastnoise")
    ]
    assert set(used) <= {"Plan"}


def fresh(code: str) -> str:
    """What `code` prints in an interpreter of its own."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_importing_loads_nothing_that_only_some_calls_need() -> None:
    names = repr(LOADED_ONLY_WHERE_NEEDED)
    code = f"import sys, leastnoise; print([x for x in {names} if x in sys.modules])"
    assert fresh(code) == "[]"


def test_importing_takes_at_most_half_a_second() -> None:
    """The best of three, because others may keep the machine busy."""
    code = "from time import perf_counter as t; s = t(); import leastnoise; print(t() - s)"
    assert any(float(fresh(code)) <= 0.5 for _ in range(3))
