"""One verb reads what was saved, plan or release."""

from pathlib import Path
from typing import Any

from leastnoise.plan import Plan
from leastnoise.records import planfile, releasefolder


def load(path: str | Path) -> Plan | Any:
    """The plan in a folder that `Plan.save` wrote, or the release in one that `Release.save` did.

    What follows from something else is recomputed or compared; `ln.verify` does more for a release.
    """
    folder = Path(path)
    if (folder / releasefolder.MARK).is_file():
        return releasefolder.load(folder)
    return planfile.load(folder)
