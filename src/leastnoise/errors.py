"""Everything leastnoise raises on purpose.

    LeastnoiseError
    ├── InputError      (ValueError)   an argument is wrong; the sentence names it and the remedy
    ├── PrivacyError    (ValueError)   the guarantee could not be kept, so nothing was released
    ├── PlanError       (ValueError)   no strategy answers these queries faithfully
    ├── TooLargeError   (MemoryError)  the work would not fit in the memory that is free
    └── FileError       (OSError)      a file is missing, damaged or not ours

Messages hold public facts only: shapes, names, parameters. Never a count, never a row.
"""


class LeastnoiseError(Exception):
    """Base of every error raised on purpose."""


class InputError(LeastnoiseError, ValueError):
    """An argument is wrong; the message names it and says what to give instead."""


class PrivacyError(LeastnoiseError, ValueError):
    """The kernel refused, because the promised guarantee could not be kept."""


class PlanError(LeastnoiseError, ValueError):
    """A strategy would not rebuild the queries faithfully."""


class TooLargeError(LeastnoiseError, MemoryError):
    """The predicted memory exceeds what is free."""


class FileError(LeastnoiseError, OSError):
    """A file is missing, damaged, or was not written by leastnoise."""
