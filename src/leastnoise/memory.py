"""How much memory is free, and a refusal, with the figures, for what would not fit."""

import os
from pathlib import Path

from leastnoise.errors import TooLargeError

_MEMINFO = Path("/proc/meminfo")


def free_bytes() -> int:
    """Bytes that new work may use: the kernel's estimate on Linux, else all physical memory."""
    if _MEMINFO.exists():
        for line in _MEMINFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def require(needed: int, what: str, remedy: str) -> None:
    """Refuse `what` when the `needed` bytes are not free."""
    free = free_bytes()
    if needed > free:
        raise TooLargeError(
            f"{what} needs about {gibibytes(needed)}, {gibibytes(free)} is free; {remedy}"
        )


def gibibytes(count: int) -> str:
    return f"{count / 2**30:,.1f} GiB"
