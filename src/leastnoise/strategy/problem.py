"""What a mechanism is asked to solve: a workload and a goal."""

from dataclasses import dataclass
from functools import cached_property

from leastnoise.strategy.goal import Goal
from leastnoise.workload.domain import Table, table_of
from leastnoise.workload.reduce import Reduction, reduce
from leastnoise.workload.workload import Workload


@dataclass(frozen=True)
class Problem:
    """Queries, and which figure of their variances is to be small."""

    workload: Workload
    goal: Goal

    @cached_property
    def reduced(self) -> Reduction:
        """Independent rows and their rotation, worked out once for all mechanisms."""
        return reduce(self.workload, self.goal.row_factors)

    @cached_property
    def table(self) -> Table:
        """The table behind the cells, found once for all mechanisms."""
        return table_of(self.workload)
