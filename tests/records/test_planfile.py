"""Plans on disk: what is loaded is what was saved, or it is refused in one sentence."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sparse
from workloads import FAMILIES, STATES, WEIGHTED_STATES

import leastnoise as ln
from leastnoise.errors import FileError
from leastnoise.records.planfile import FORMAT, noise_facts
from leastnoise.release.calibrate import calibrate
from leastnoise.release.integers import integer_strategy
from leastnoise.release.privacy import promise

PLANS = {
    "pure": lambda: ln.plan(STATES, epsilon="1/3"),
    "approximate": lambda: ln.plan(
        WEIGHTED_STATES, epsilon=1, delta=1e-6, mechanism="optimal", noise="gaussian"
    ),
    "worst, weights": lambda: ln.plan(
        WEIGHTED_STATES, rho=0.1, objective="worst", weights=[1, 2, 3]
    ),
    "augmented": lambda: ln.plan(WEIGHTED_STATES, epsilon=1, mechanism="augmented"),
    "zcdp, weights, rows": lambda: ln.plan(
        WEIGHTED_STATES, rho=0.1, weights=[1, 0, 3], max_rows=2, neighbors="change_one"
    ),
    "fixed": lambda: ln.plan(STATES, epsilon=1, mechanism="nor"),
    "real": lambda: ln.plan(FAMILIES["related"](6, 20), epsilon=1, max_total=10**6),
    "history": lambda: ln.plan(WEIGHTED_STATES, epsilon=1, mechanism="lrm"),
    "relaxed": lambda: relaxed(gamma=0.2),
    "fewer rows than the rank": lambda: relaxed(rank=1),
    "fallen back": lambda: ln.plan(np.eye(3), epsilon=1, mechanism="lrm", gamma=1.0),
    "tree": lambda: ln.plan(STATES, epsilon=1, mechanism="hierarchical", branching=3),
    "wavelet": lambda: ln.plan(WEIGHTED_STATES, epsilon=1, mechanism="wavelet"),
    "the paper's noise": lambda: ln.plan(
        STATES, epsilon=1, delta="1e-4", noise="gaussian", calibration="paper"
    ),
    "named": lambda: ln.plan(ln.Workload([[1, 0], [1, 1]], names=["ä", "b"]), epsilon=1),
    "sparse": lambda: ln.plan(
        sparse.kron(sparse.eye_array(600), sparse.csr_array(STATES)), epsilon=1, mechanism="nor"
    ),
}


def relaxed(**options: object) -> ln.Plan:
    """A plan whose B·L is only near W."""
    return ln.plan(
        WEIGHTED_STATES,
        epsilon=1,
        mechanism="lrm",
        max_total=1000,
        relaxed=True,
        fallback=False,
        **options,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A saved plan with Gaussian noise, to be damaged."""
    return saved(PLANS["approximate"](), tmp_path)


def saved(plan: ln.Plan, tmp_path: Path) -> Path:
    plan.save(tmp_path / "plan")
    return tmp_path / "plan"


def change(folder: Path, **facts: Any) -> None:
    """Rewrite some facts of plan.json."""
    content = json.loads((folder / "plan.json").read_text())
    (folder / "plan.json").write_text(json.dumps(content | facts))


def change_arrays(folder: Path, **arrays: Any) -> None:
    """Rewrite, or with None drop, some arrays of arrays.npz."""
    with np.load(folder / "arrays.npz") as file:
        content = dict(file) | arrays
    kept = {name: array for name, array in content.items() if array is not None}
    np.savez(folder / "arrays.npz", **kept)


def fact(folder: Path, name: str) -> Any:
    return json.loads((folder / "plan.json").read_text())[name]


def refusal(folder: Path) -> str:
    with pytest.raises(FileError) as caught:
        ln.load(folder)
    assert "\n" not in str(caught.value)
    assert str(folder) in str(caught.value) or "plan again" in str(caught.value)
    return str(caught.value)


def test_the_plans_are_what_their_names_say() -> None:
    """Lest a test of relaxed plans goes by with none."""
    plans = {name: PLANS[name]() for name in ("history", "relaxed", "fallen back", "approximate")}
    assert [plan.is_relaxed for plan in plans.values()] == [False, True, False, False]
    assert [plan.history is None for plan in plans.values()] == [False, False, False, True]
    assert (plans["relaxed"].bias > 10).any()


@pytest.mark.parametrize("name", PLANS)
def test_what_is_loaded_is_what_was_saved(name: str, tmp_path: Path) -> None:
    plan = PLANS[name]()
    plan.save(tmp_path / "plan")
    loaded = ln.load(str(tmp_path / "plan"))
    assert loaded.privacy == plan.privacy
    assert loaded.workload.names == plan.workload.names
    assert np.array_equal(loaded.workload.dense(), plan.workload.dense())
    assert np.array_equal(loaded.goal.weights, plan.goal.weights)
    assert loaded.goal.objective == plan.goal.objective
    assert loaded.measurable.noise == plan.measurable.noise
    assert np.array_equal(loaded.bias, plan.bias)
    assert (loaded.is_relaxed, loaded.note) == (plan.is_relaxed, plan.note)
    assert loaded.max_total == plan.max_total
    assert np.array_equal(loaded.strategy.L, plan.strategy.L)
    assert np.array_equal(loaded.strategy.B, plan.strategy.B)
    assert np.array_equal(loaded.std, plan.std)
    assert loaded.expected_error == plan.expected_error
    assert loaded.candidates == plan.candidates
    assert (loaded.history is None) == (plan.history is None)
    if plan.history is not None:
        for name, values in vars(plan.history).items():
            assert np.array_equal(getattr(loaded.history, name), values)
    assert loaded.summary() == plan.summary()
    assert sparse.issparse(loaded.strategy.blocks[0].L) == sparse.issparse(
        plan.strategy.blocks[0].L
    )
    assert (loaded.certificate is None) == (plan.certificate is None)
    if plan.certificate is not None:
        assert loaded.certificate.lower_bound == plan.certificate.lower_bound
        assert loaded.certificate.achieved == plan.certificate.achieved
        for ours, theirs in zip(loaded.certificate.proof, plan.certificate.proof, strict=True):
            assert np.array_equal(ours, theirs)
    loaded.release(np.zeros(plan.workload.shape[1], dtype=int))


@pytest.mark.parametrize("name", ["approximate", "relaxed"])
def test_saving_twice_gives_the_same_files(name: str, tmp_path: Path) -> None:
    plan = PLANS[name]()
    plan.save(tmp_path / "a")
    ln.load(tmp_path / "a").save(tmp_path / "b")
    first, second = ((tmp_path / name / "plan.json").read_text() for name in "ab")
    assert first == second


@pytest.mark.parametrize("factor", [1e-9, 0.5, 0.999999, 1.000001])
def test_another_noise_scale_is_refused(folder: Path, factor: float) -> None:
    noise = fact(folder, "noise")
    change(folder, noise=noise | {"scale": noise["scale"] * factor})
    assert "noise does not follow from its strategy" in refusal(folder)


@pytest.mark.parametrize(
    "noise",
    [{"kind": "laplace"}, {"kind": "none"}, {"limit": "100"}, {"scale": 0}, {"scale": None}],
)
def test_another_noise_is_refused(folder: Path, noise: dict[str, Any]) -> None:
    change(folder, noise=fact(folder, "noise") | noise)
    refusal(folder)


@pytest.mark.parametrize(
    "privacy",
    [{"epsilon": "1/2"}, {"epsilon": "2"}, {"delta": "1/1000"}, {"rho": "1"}, {"epsilon": None},
     {"max_rows": 2}, {"neighbors": "change_one"}, {"neighbors": "x"}, {"max_rows": 0},
     {"calibration": "paper"}, {"calibration": "x"}],
)  # fmt: skip
def test_another_promise_is_refused(folder: Path, privacy: dict[str, Any]) -> None:
    """Noise for this promise would be another."""
    change(folder, privacy=fact(folder, "privacy") | privacy)
    refusal(folder)


def test_another_strategy_is_refused(folder: Path) -> None:
    """A row doubled without more noise would spend more than is promised."""
    with np.load(folder / "arrays.npz") as arrays:
        larger = arrays["L0"] * 2
    change_arrays(folder, L0=larger)
    assert "noise does not follow" in refusal(folder)


@pytest.mark.parametrize(
    "arrays",
    [
        {"L0": None},
        {"B0": None},
        {"cells": None},
        {"L0": np.zeros((3, 4), dtype=np.int64)},
        {"L0": np.ones((3, 4))},
        {"L0": np.ones(4, dtype=np.int64)},
        {"B0": np.ones((3, 2))},
        {"B0": np.ones(3)},
        {"B0": np.ones((3, 3))},
        {"B0": np.ones((3, 3), dtype=np.int64)},
        {"B0": np.full((3, 3), np.nan)},
        {"B0": np.full((3, 3), "1")},
        {"cells0": np.array([0, 1, 2, 4])},
        {"cells0": np.array([0, 1, 2, -2])},
        {"cells0": np.array([0, 1, 2, -1])},
        {"cells0": np.array([0, 1, 2, 2])},
        {"cells0": np.array([0, 1, 3, 2])},
        {"cells0": np.array([0, 1, 2])},
        {"cells0": np.array([0.0, 1, 2, 3])},
        {"cells0": np.arange(4)[:, None], "cells": np.arange(4)[:, None]},
        {"cells": np.array([0, 1, 2, 9])},
        {"cells": np.array([0, 1, 2, -1])},
        {"cells": np.array([0, 1, 2, -2])},
        {"cells": np.array([-5, 1, 2, 3])},
        {"cells": np.array([0, 1, 2, 3, 3])},
        {"cells": np.array([0.0, 1, 2, 3])},
        {"workload": np.ones((2, 4))},
        {"workload": np.ones((3, 4))},
        {"workload": np.ones(4)},
        {"workload": np.full((3, 4), np.nan)},
        {"workload": np.zeros((3, 4))},
        {"workload": WEIGHTED_STATES.astype(complex)},
        {"workload": WEIGHTED_STATES.astype(np.float32)},
        {"weights": np.ones(2)},
        {"weights": -np.ones(3)},
        {"weights": None},
        {"q": None},
        {"q": np.ones(3)},
        {"q": np.full(4, np.nan)},
        {"q": np.array([1.0, 1, 1, -1])},
        {"p": np.ones(4)},
        {"q": np.array([None] * 4)},
    ],
)
def test_matrices_that_do_not_fit_are_refused(folder: Path, arrays: dict[str, Any]) -> None:
    change_arrays(folder, **arrays)
    refusal(folder)


@pytest.mark.parametrize(
    "arrays",
    [
        {"history.misfits": None},
        {"history.traces": None},
        {"history.residuals": None},
        {"history.penalties": np.ones(3)},
        {"history.misfits": np.ones((2, 2))},
        {"history.traces": np.ones(0)},
        {"history.residuals": np.ones(2)},
        {"history.residuals": np.ones((3, 1))},
        {"history.residuals": np.float64(1)},
    ],
)
def test_a_damaged_history_is_refused(arrays: dict[str, Any], tmp_path: Path) -> None:
    folder = saved(PLANS["history"](), tmp_path)
    change_arrays(folder, **arrays)
    assert "damaged" in refusal(folder)


@pytest.mark.parametrize("value", ["x", np.nan, 1j])
def test_a_history_of_no_numbers_is_refused(value: object, tmp_path: Path) -> None:
    plan = PLANS["history"]()
    folder = saved(plan, tmp_path)
    change_arrays(folder, **{"history.misfits": np.full(len(plan.history.misfits), value)})
    refusal(folder)


def test_a_strategy_far_from_the_queries_is_refused_unless_it_is_relaxed(tmp_path: Path) -> None:
    folder = saved(PLANS["fewer rows than the rank"](), tmp_path)
    assert ln.load(folder).is_relaxed
    for fact in (False, None, "true"):
        change(folder, is_relaxed=fact)
        assert "PlanError" in refusal(folder)


@pytest.mark.parametrize("cells0", [[0, 1, 1, 1, -1], [0, 0, 1, -1, -1], [0, 0, 1, 1, 0]])
def test_cells_counted_elsewhere_than_the_queries_say_are_refused(
    cells0: list[int], tmp_path: Path
) -> None:
    """One cell of a class put into another class, left out, or an unused one counted."""
    W = np.hstack([STATES, np.zeros((3, 1))])
    folder = saved(ln.plan(W, epsilon=1, mechanism="nod"), tmp_path)
    change_arrays(folder, cells0=np.array(cells0))
    assert "cells do not fit" in refusal(folder)


@pytest.mark.parametrize("name", ["workload", "L0", "B0"])
@pytest.mark.parametrize("index", [-1, 10**6, 2**31 - 1])
def test_sparse_indices_out_of_place_are_refused(name: str, index: int, tmp_path: Path) -> None:
    folder = saved(PLANS["sparse"](), tmp_path)
    with np.load(folder / "arrays.npz") as arrays:
        indices = arrays[f"{name}.indices"].copy()
    indices[3] = index
    change_arrays(folder, **{f"{name}.indices": indices})
    with pytest.raises(FileError, match=r"damaged \(ValueError\)") as caught:
        ln.load(folder)
    assert "indices must be" in str(caught.value.__cause__)  # before anything follows them


@pytest.mark.parametrize("kind", [complex, np.float32, object])
def test_a_reconstruction_of_another_type_is_refused(folder: Path, kind: type) -> None:
    with np.load(folder / "arrays.npz") as arrays:
        B = arrays["B0"].astype(kind)
    change_arrays(folder, B0=B)
    refusal(folder)


def test_a_reconstruction_of_too_few_queries_is_refused(tmp_path: Path) -> None:
    """Both queries are alike, so that one row of B would rebuild either."""
    folder = saved(ln.plan([[1, 2], [1, 2]], epsilon=1, mechanism="nod"), tmp_path)
    with np.load(folder / "arrays.npz") as arrays:
        B = arrays["B0"][:1]
    change_arrays(folder, B0=B)
    assert "B does not fit its L" in refusal(folder)


def test_counts_that_could_wrap_around_are_refused(tmp_path: Path) -> None:
    """Cell by cell without a bit to spare, four cells of 2⁶¹ fit the noise but not their sum."""
    total, L = 2**61, np.eye(4, dtype=np.int64)
    folder = saved(ln.plan(np.eye(4), epsilon=1, mechanism="nod"), tmp_path)
    noise = calibrate(integer_strategy([L], 0, total), promise(epsilon=1), "laplace")
    change_arrays(folder, L0=L, B0=np.eye(4))
    change(folder, k=0, max_total=total, noise=noise_facts(noise))
    assert "InputError" in refusal(folder)
    change(folder, max_total=total - 1)
    assert ln.load(folder).measurable.integers.max_total == total - 1


def test_an_array_that_claims_to_be_huge_is_refused(folder: Path) -> None:
    """Eight petabytes, says its head."""
    head = io.BytesIO()
    shape = {"descr": "<f8", "fortran_order": False, "shape": (10**15,)}
    np.lib.format.write_array_header_1_0(head, shape)
    with zipfile.ZipFile(folder / "arrays.npz", "w") as archive:
        archive.writestr("workload.npy", head.getvalue())
    assert "damaged, or too large" in refusal(folder)


@pytest.mark.parametrize(
    "facts",
    [{"format": 0}, {"format": 99}, {"k": -1}, {"k": "x"}, {"k": 99}, {"max_total": 0},
     {"max_total": 2**40}, {"max_total": 2**200}, {"blocks": 2}, {"blocks": 0}, {"names": ["a"]},
     {"names": ["a", "a", "b"]}, {"names": "abc"}, {"names": None}, {"names": [1, 2, 3]},
     {"privacy": None}, {"noise": []}, {"objective": "least"}, {"candidates": [{}]},
     {"candidates": 7}, {"lower_bound": "high"}, {"lower_bound": -1}, {"lower_bound": 1e999}],
)  # fmt: skip
def test_facts_that_make_no_sense_are_refused(folder: Path, facts: dict[str, Any]) -> None:
    change(folder, **facts)
    refusal(folder)


@pytest.mark.parametrize(
    "wrong", [{"expected_error": "x"}, {"seconds": None}, {"seconds": []}, {"expected_error": {}}]
)
def test_candidates_that_could_not_be_shown_are_refused(
    folder: Path, wrong: dict[str, Any]
) -> None:
    change(folder, candidates=[fact(folder, "candidates")[0] | wrong])
    refusal(folder)


def test_other_versions_are_told_apart(folder: Path) -> None:
    change(folder, format=FORMAT + 1)
    assert "another version" in refusal(folder)


@pytest.mark.parametrize("name", ["plan.json", "arrays.npz"])
@pytest.mark.parametrize("keep", [0, 1, 100, -20])
def test_truncated_files_are_refused(folder: Path, name: str, keep: int) -> None:
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[:keep])
    assert "damaged" in refusal(folder)


@pytest.mark.parametrize(
    "text", ["[]", "null", "7", '{"format": 1}', "\xff", "{" * 100, "[" * 100_000, '"format"']
)
def test_other_text_is_refused(folder: Path, text: str) -> None:
    (folder / "plan.json").write_text(text, encoding="latin-1")
    refusal(folder)


@pytest.mark.parametrize("name", ["plan.json", "arrays.npz"])
def test_missing_files_are_refused(folder: Path, name: str) -> None:
    (folder / name).unlink()
    refusal(folder)


def test_damage_anywhere_in_a_file_is_refused_or_changes_nothing(folder: Path) -> None:
    """Each of a few hundred bytes of the archive flipped: what still loads still releases."""
    content = (folder / "arrays.npz").read_bytes()
    plan = ln.load(folder)
    for position in range(0, len(content), 17):
        flipped = bytearray(content)
        flipped[position] ^= 0x55
        (folder / "arrays.npz").write_bytes(flipped)
        try:
            loaded = ln.load(folder)
        except FileError:
            continue
        assert np.array_equal(loaded.strategy.L, plan.strategy.L)
        assert np.array_equal(loaded.strategy.B, plan.strategy.B)
        assert loaded.measurable.noise == plan.measurable.noise


def test_what_is_no_plan_is_refused(tmp_path: Path) -> None:
    assert "holds no plan" in refusal(tmp_path / "absent")
    assert "holds no plan" in refusal(tmp_path)
