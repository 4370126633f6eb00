"""SUDA: special uniques, the records that very few keys suffice to single out.

Source: Elliot, Manning, Mayes, Gurd and Bane (2005); Manning, Haglin and Keane (2008); the scores are those of
sdcMicro's suda2 (Templ, Meindl, Kowarik and others).

The score, DIS and the spread of DIS over the records are those of `suda2` with its original scores, as sdcMicro's
practice guide writes them out ("Special Uniques Detection Algorithm").

A minimal sample unique (MSU) of a record is a set of keys on which it is unique, and on no part of which it is. With M
keys, an MSU of s keys scores (M - s)(M - s - 1)... down to M - m, m the largest size that is searched, at most M - 1; a
record's score is the sum over its MSUs. So few keys weigh more, and many ways to be unique as well.

Differs from it: a missing key is a category of its own, while sdcMicro lets no MSU contain one, so that suppressing a
key hides a record there even when nobody else's is suppressed. Where it is known whose the records are, a record is
unique that no other person has the like of. Higher is worse.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.document_parts import Share
from sluice.ground.errors import DataError
from sluice.ground.sentence import Sentence, percent
from sluice.ground.verdict import Finding
from sluice.risk.classes.attribute_combinations import DistinctCombinations, distinct_combinations, projections
from sluice.risk.classes.equivalence_classes import Codes
from sluice.risk.classes.microdata_rule import KeyedRecords, KeyedRule, PositiveShare
from sluice.risk.measurement import Measurement

_AT_RISK = Sentence(
    "suda.at_risk",
    "{share:percent} of the {unit} are singled out by so few of {keys:listed} that a match would be right with a "
    "chance above {above:percent}; the policy allows {limit:percent}.",
)

_BYTES = 2**31  # the most that the marks of unique records may take
_MOST_DIS_KEYS = 27  # with 28 the exponent of the spread is 0: all records would be equally risky


@dataclass(frozen=True)
class SudaScores:
    """Scores of a file.

    score   : shape (n,), 0 for a record without an MSU
    by_key  : shape (n, p), the part of the score from MSUs that hold the key; an MSU of several keys counts for each
    unique  : records that are unique on all keys
    paired  : records in classes of two
    """

    score: FloatArray
    by_key: FloatArray
    unique: int
    paired: int

    @property
    def key_shares(self) -> FloatArray:
        """Shape (p,): the share of the file's score in which each key has a part; they may add up to more than 1."""
        total = self.score.sum()
        return np.asarray(self.by_key.sum(axis=0) / total if total else np.zeros(self.by_key.shape[1]))

    def dis(self, sampling_fraction: float) -> FloatArray:
        """Shape (n,): the probability of a correct match, given a unique one, spread over the records by score."""
        return dis_scores(self.score, self.unique, self.paired, self.by_key.shape[1], sampling_fraction)

    def share_at_risk(self, above: float, sampling_fraction: float) -> Measurement:
        """The share of the records whose DIS score is above a probability."""
        n = len(self.score)
        return Measurement(float((self.dis(sampling_fraction) > above).mean()), n, n)


def suda(keys: Sequence[Codes], size: int | None = None, people: IntArray | None = None) -> SudaScores:
    """Scores by all minimal sample uniques of up to `size` keys.

    keys   : p arrays of shape (n,), integer codes from 0 (see `category_codes`)
    size   : most keys in an MSU; any when None
    people : shape (n,), the person of each record, from 0; every record is somebody else's when not given
    raises : DataError if there is no record or no key, the sets of keys are more than 131,072 (all sets of 17 keys, of
             up to 3 of 92), or marking the unique records for all of them would take more than 2 GB
    cost   : that of `attribute_combinations`, and a bit for each set of keys and record that is unique on all keys:
             100,000 different records take a tenth of a second with 7 keys, 8 s with 12 and minutes with 16
    """
    distinct = distinct_combinations(keys, people)
    largest = len(keys) if size is None else min(size, len(keys))
    score, by_key = np.zeros(len(distinct.first)), np.zeros((len(distinct.first), len(keys)))
    for subset, alone in _minimal(distinct, largest):
        points = prod(len(keys) - i for i in range(len(subset), min(largest, len(keys) - 1) + 1))
        score[alone] += points
        by_key[alone[:, None], list(subset)] += points
    unique, paired = (int(distinct.records[distinct.members == members].sum()) for members in (1, 2))
    return SudaScores(score[distinct.of], by_key[distinct.of], unique, paired)


def minimal_sample_uniques(keys: Sequence[Codes], size: int | None = None) -> list[tuple[tuple[int, ...], IntArray]]:
    """Each set of keys that is an MSU of some record, and those records, rising.

    keys, size, raises, cost : as for `suda`
    """
    distinct = distinct_combinations(keys)
    found = _minimal(distinct, len(keys) if size is None else size)
    return [(subset, np.sort(distinct.first[alone])) for subset, alone in found]


def dis_scores(score: FloatArray, unique: int, paired: int, keys: int, sampling_fraction: float) -> FloatArray:
    """Data intrusion simulation by record: the file's probability of a correct match, spread by a score.

    The file's probability is U f / (U f + P (1 - f)), with U unique records, P records in pairs and the sampling
    fraction f (Skinner and Elliot 2002, equation 9). The harmonic spread with exponent 1 + (8 - p) / 20 for p keys is
    that of sdcMicro.

    score             : shape (n,), 0 or more
    sampling_fraction : of the population, above 0 to 1
    returns           : shape (n,), 0 to 1; 0 where the score is
    raises            : DataError for a fraction out of bounds, and for 28 keys or more, where the exponent is 0 or less
    """
    if not 0 < sampling_fraction <= 1:
        raise DataError(f"sampling_fraction must be above 0 and at most 1; got {sampling_fraction:g}.")
    if keys > _MOST_DIS_KEYS:
        raise DataError(f"the DIS score is defined for at most {_MOST_DIS_KEYS} keys; got {keys}. Use fewer keys.")
    scored = score > 0
    dis = np.zeros(len(score))
    if scored.any():
        weight = score[scored] ** (1 + (8 - keys) / 20)
        odds_against = paired * (1 - sampling_fraction) / sampling_fraction  # U / DIS - U
        dis[scored] = 1 / (1 + odds_against / (weight * (1 / weight).sum()))
    return dis


def _minimal(distinct: DistinctCombinations, size: int) -> Iterator[tuple[tuple[int, ...], IntArray]]:
    """The sets of keys with the combinations whose record has them as an MSU.

    Unique on a set and on none of the sets with one key less is enough: what is unique on a part is so on all between.
    """
    lone = np.flatnonzero(distinct.members == 1)  # only who is unique on all keys is so on some
    number = np.zeros(len(distinct.members), dtype=np.int64)
    number[lone] = np.arange(len(lone))
    unique_on: dict[tuple[int, ...], NDArray[np.uint8]] = {(): _bits(lone[:0], len(lone))}
    marks = 0
    for projection in projections(distinct, size):
        keys, alone = projection.keys, projection.alone
        if len(keys) < size:
            unique_on[keys] = unique_on[keys[1:]] | _bits(number[alone], len(lone))
            marks += len(unique_on[keys])
            if marks > _BYTES:
                raise DataError("the sets of keys and unique records are too many to be compared. Use a smaller size.")
        byte, bit = np.divmod(number[alone], 8)
        minimal = np.ones(len(alone), dtype=bool)
        for left_out in range(1, len(keys)):  # on the set without its first key they are not unique, or not here
            part = unique_on[keys[:left_out] + keys[left_out + 1 :]]
            minimal &= (part[byte] >> bit.astype(np.uint8)) & 1 == 0
        if minimal.any():
            yield keys, alone[minimal]


def _bits(marked: IntArray, among: int) -> NDArray[np.uint8]:
    """One bit for each of `among` positions, set for those that are marked."""
    flags = np.zeros(among, dtype=bool)
    flags[marked] = True
    return np.packbits(flags, bitorder="little")


class Suda(KeyedRule):
    """Few records are singled out by few keys. A missing key is a category of its own."""

    rule: Literal["suda"] = "suda"
    example: ClassVar[str] = "{rule: suda, sampling_fraction: 0.1, above: 0.5, at_most: 0.05}"
    largest: ClassVar[Mapping[str, float]] = {"above": 1.0}
    advice: ClassVar[str] = (
        "A few keys single these records out: recode the keys that occur most in small unique combinations, or "
        "suppress just those cells, first in the records that have most of them."
    )
    size: int = Field(default=3, ge=1, description="most keys that an intruder needs to single a record out")
    sampling_fraction: PositiveShare = Field(description="records per person of the population, more than 0")
    above: Share = Field(description="chance of a right match (DIS-SUDA score) above which a record is at risk")
    at_most: Share = Field(default=0, lt=1, description="share of the records that may be at risk, not percent")

    def judge(self, file: KeyedRecords) -> list[Finding]:
        scores = suda(file.codes, self.size, file.people)
        measured = scores.share_at_risk(self.above, self.sampling_fraction)
        says = _AT_RISK(share=measured.value, unit=file.unit, keys=file.keys, above=self.above, limit=self.at_most)
        passes = measured.value <= self.at_most
        return [self.finding(file, passes, measured.value, self.at_most, says)]

    def describe(self) -> str:
        return (
            f"At most {percent(self.at_most)} of the records are singled out by up to {self.size} keys with a "
            f"chance of a right match above {percent(self.above)} (SUDA)."
        )
