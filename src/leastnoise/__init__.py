"""Answer a batch of linear counting queries under differential privacy, with the least noise."""

from importlib.metadata import version

from leastnoise.answers.release import Release
from leastnoise.bounds import bounds
from leastnoise.compare import Comparison, compare
from leastnoise.errors import (
    FileError,
    InputError,
    LeastnoiseError,
    PlanError,
    PrivacyError,
    TooLargeError,
)
from leastnoise.plan import Plan, plan
from leastnoise.records.load import load
from leastnoise.records.verify import Verified, verify
from leastnoise.rehearsal.mwem import Rehearsal
from leastnoise.rehearsal.simulate import rehearse
from leastnoise.strategy.bounds import Bounds
from leastnoise.usefulness import Usefulness, usefulness
from leastnoise.workload.families import identity, prefixes, ranges
from leastnoise.workload.workload import Workload

__version__ = version("leastnoise")

__all__ = [
    "Bounds",
    "Comparison",
    "FileError",
    "InputError",
    "LeastnoiseError",
    "Plan",
    "PlanError",
    "PrivacyError",
    "Rehearsal",
    "Release",
    "TooLargeError",
    "Usefulness",
    "Verified",
    "Workload",
    "bounds",
    "compare",
    "identity",
    "load",
    "plan",
    "prefixes",
    "ranges",
    "rehearse",
    "usefulness",
    "verify",
]
