"""A release on a ledger, in the order that keeps a budget: check, charge, read, measure, store.

Whatever stops it between two steps, no data was read without a charge, and no key is charged twice.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from leastnoise.answers.measured import Account
from leastnoise.errors import InputError, LeastnoiseError
from leastnoise.records import ledger
from leastnoise.records.fingerprint import plan_hash
from leastnoise.release.budget import charge
from leastnoise.release.measure import check_public

if TYPE_CHECKING:
    from leastnoise.plan import Plan


def accounted(
    plan: "Plan", data: Any, path: Path, dataset: str | None, id: str | None
) -> tuple[Account, Sequence[np.ndarray]]:
    """The numbers stored under this key, or those that are measured now, once, and stored."""
    if id is None:
        raise InputError("a release on a ledger needs an id, such as id='2026-q4'")
    key = ledger.Key(ledger.dataset_of(path, dataset), id, plan_hash(plan), plan.privacy)
    if found := ledger.stored(path, key):
        return found
    read = plan.checked(data)
    integers, noise = plan.measurable.integers, plan.measurable.noise
    check_public(integers, noise, plan.privacy)
    cost = charge(integers, noise, plan.privacy)
    account = ledger.charge(path, key, cost, integers.rows)
    if not isinstance(account, Account):
        return account  # another process was faster, with the same key
    try:
        numbers = plan.measured(read)
        ledger.answer(path, account, numbers)
    except LeastnoiseError as error:
        raise type(error)(f"{error}; id {id!r} stays charged, a retry is a new id") from None
    return account, numbers
