"""The two strategies that need no search, against which every other is judged.

Noise on data measures each class of cells by itself (Δ = 1), noise on results each query by
itself. Expected squared error at unit noise: ‖W‖²_F over classes, and m·Δ².
"""

import numpy as np
import scipy.sparse as sparse

from leastnoise.strategy.ascent import Search
from leastnoise.strategy.problem import Problem
from leastnoise.strategy.strategy import Draft, Part, measured_by_class
from leastnoise.workload.rational import integer_rows


def noise_on_data(problem: Problem, search: Search) -> Draft:
    """L = I over the classes, B = W. Cells that no query tells apart are measured together."""
    return Draft("nod", (measured_by_class(problem.workload),))


def noise_on_results(problem: Problem, search: Search) -> Draft:
    """L = W, B = I: each query on its own; a rational row as its integer multiple, divided."""
    workload = problem.workload
    whole = integer_rows(workload.matrix)
    rows, multipliers = whole or (workload.matrix, np.ones(workload.shape[0]))
    divide = sparse.csr_array(sparse.diags_array(1 / multipliers))
    return Draft("nor", (Part(workload.cells, divide, rows, divide, whole is not None),))
