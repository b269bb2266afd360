"""README.txt of a release: what the person who receives it should know, in plain words."""

from textwrap import fill
from typing import TYPE_CHECKING

from leastnoise.show.text import number, spending_text, unit_text

if TYPE_CHECKING:
    from leastnoise.answers.measured import Part
    from leastnoise.answers.release import Release

_WIDTH = 88
_NOISE = {"laplace": "discrete Laplace", "gaussian": "discrete Gaussian"}


def readme(release: "Release") -> str:
    """What is in the folder, how sure the answers are, what was promised, how to check it."""
    paragraphs = [
        "Private answers",
        f"answers.csv holds answers to {_count(len(release.names), 'question')} about a table of "
        f"people. Random noise was added before anything left the table, so that hardly anything "
        f"can be told from them about any one person. answers.parquet is the same table.",
        "Each answer has an estimate and its standard error: the estimate is rarely farther than "
        "twice that from the truth. Between low and high lies the truth of a question in 95 of "
        "100 such releases. Estimates may be negative, fractional, or not add up; that is the "
        "noise, and rounding or clipping them makes sums of them worse.",
        *_bias(release),
        "What was promised",
        *(_promised(part) for part in release.parts),
        *_spent(release),
        "How to check it",
        "Whoever has leastnoise runs  leastnoise verify  on this folder. It computes the "
        "sensitivity, the noise that the promise needs, the answers and their errors again from "
        "measurements.npz, and compares. release.json has every number exactly, and hashes of "
        "the files. None of it can show that the noise was drawn honestly or the people counted "
        "rightly; that is a matter of trust in who made it.",
    ]
    return "\n\n".join(fill(one, _WIDTH, break_long_words=False) for one in paragraphs) + "\n"


def _bias(release: "Release") -> list[str]:
    widened = int(release.is_biased.sum())
    if not widened:
        return []
    return [
        f"{_count(widened, 'answer')} may be shifted by up to {release.bias.max():,.3g} beside the "
        f"noise, because what was measured had to be rounded; low and high allow for it."
    ]


def _promised(part: "Part") -> str:
    rows = sum(len(y) for y in part.numbers)
    return (
        f"For {unit_text(part.privacy)}: {_guarantee(part)}. {_count(rows, 'number')} were "
        f"measured with {_NOISE[part.noise.kind]} noise."
    )


def _guarantee(part: "Part") -> str:
    privacy = part.privacy
    if privacy.epsilon is None:
        return (
            f"ρ = {number(privacy.rho)} of zero-concentrated differential privacy, which bounds "
            f"how well anyone can tell the table from the one without this change"
        )
    factor = f"by more than a factor of e^{number(privacy.epsilon)}"
    if part.noise.kind == "laplace":
        return (
            f"ε = {number(privacy.epsilon)} of differential privacy. No such change alters the "
            f"chance of any outcome {factor}"
        )
    return (
        f"ε = {number(privacy.epsilon)} and δ = {number(privacy.delta)} of differential privacy. "
        f"No such change alters the chance of any outcome {factor}, but for a chance of "
        f"{number(privacy.delta)}"
    )


def _spent(release: "Release") -> list[str]:
    texts = [spending_text(part) for part in release.parts]
    if release.accounted:
        return [f"A ledger keeps count of what is spent on these people. {one}." for one in texts]
    return [
        "This release is unaccounted: no ledger keeps count of all that is published about these "
        "people, and every further release adds to what can be learnt about each of them."
    ]


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
