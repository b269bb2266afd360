"""The data sets of the experiments: real histograms, brought to n cells.

Adult and two histograms of the American Community Survey come with the project (data/README.md).
The paper's Search Log, Net Trace and Social Network may not be passed on: a folder that holds
them is read with `--data`, and takes the place of the survey.
"""

import gzip
from dataclasses import dataclass
from hashlib import blake2b
from importlib.resources import files
from pathlib import Path

import numpy as np

from leastnoise.errors import FileError, InputError

_SHIPPED = ("acs_income", "acs_place", "adult")
_OWN = ("search_logs", "nettrace", "social_network")
TITLES = {
    "acs_income": "ACS: income × industry × age",
    "acs_place": "ACS: place × education × age",
    "adult": "Adult",
    "search_logs": "Search Log",
    "nettrace": "Net Trace",
    "social_network": "Social Network",
}
"""How each is called in drawings."""

_LARGEST = 2**32


@dataclass(frozen=True)
class Histogram:
    """Counts of real records, a line a cell."""

    name: str
    counts: np.ndarray

    @property
    def digest(self) -> str:
        """What tells it from another of the same name."""
        return blake2b(self.counts.tobytes(), digest_size=4).hexdigest()

    def cells(self, n: int, seed: int) -> np.ndarray:
        """n counts: consecutive ones added up, or for Adult n of its cells, drawn uniformly."""
        if n > len(self.counts):
            raise InputError(f"{self.name} has {len(self.counts):,} cells; n = {n} needs as many")
        if self.name == "adult":
            random = np.random.default_rng(seed)
            return self.counts[np.sort(random.choice(len(self.counts), n, replace=False))]
        return np.array([part.sum() for part in np.array_split(self.counts, n)])


def histograms(folder: Path | None = None) -> list[Histogram]:
    """The paper's three from a folder and Adult; without a folder the shipped ones."""
    if folder is None:
        return [_shipped(name) for name in _SHIPPED]
    own = [Histogram(name, _read(folder / f"{name}.txt")) for name in _OWN]
    return [*own, _shipped("adult")]


def _shipped(name: str) -> Histogram:
    packed = files("leastnoise.experiments").joinpath(f"data/{name}.txt.gz").read_bytes()
    return Histogram(name, np.array(gzip.decompress(packed).split(), dtype=np.int64))


def _read(path: Path) -> np.ndarray:
    """One integer a line, not negative."""
    try:
        lines = path.read_text(encoding="ascii").split("\n")
    except UnicodeDecodeError:
        raise FileError(f"{path} is no text of digits; write one integer a line") from None
    except OSError as error:
        raise FileError(
            f"{path} cannot be read ({error.strerror}); --data needs {', '.join(_names())}"
        ) from None
    while lines and not lines[-1].strip():
        lines.pop()
    for number, line in enumerate(lines, 1):
        if not (line.strip().isdigit() and int(line) <= _LARGEST):
            raise FileError(f"{path} line {number} is no count; write one integer a line")
    if not lines:
        raise FileError(f"{path} is empty; write one integer a line")
    return np.array([int(line) for line in lines], dtype=np.int64)


def _names() -> list[str]:
    return [f"{name}.txt" for name in _OWN]
