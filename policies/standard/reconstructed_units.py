"""Reconstructed units: people found by the household, patient or firm that the file's values put together again."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from policies.reported_shares import disclosed_share, reported_share
from policies.standard.reference_standard import UnitLimits
from sluice.ground.arrays import BoolArray, IntArray
from sluice.ground.comparable_values import PlainArray, plain_values
from sluice.ground.declaration import Declaration
from sluice.ground.errors import DataError
from sluice.ground.sentence import Saying, Sentence, Sentences, as_fields
from sluice.ground.variables import GROUPS, Kind, Role, with_role
from sluice.ground.verdict import Finding, Verdict
from sluice.risk.attacks.attack_success import AttackSuccess
from sluice.risk.attacks.near_records import ReleasedColumn
from sluice.risk.attacks.unit_reconstruction import Reconstruction, reconstruct_units
from sluice.risk.classes.equivalence_classes import category_codes
from sluice.risk.measurement import if_near, verdict_within
from sluice.risk.people_of_records import GROUP_WORDS
from sluice.risk.reference.shared_ratios import belong_together
from sluice.utility.comparison import Comparison

_WHO = (
    "An intruder who knows the {known:commas} of every record of a {group} puts records together by {near:commas} and"
)
_SAYS = Sentences(
    "reconstructed_units",
    apart="Nobody is found by the other records of one {group}: no released variable shows well enough which belong "
    "together.",
    finds=f"{_WHO} finds the own record of {{share:percent}} of {{n:,}} {{unit}}. Their own quasi-identifiers alone "
    "find {alone:percent}; the policy allows {limit:percent} more.",
)
_CLAIMS = Sentence(
    "reconstructed_claims.claims",
    f"{_WHO} is sure of a record for {{claimed:percent}} of {{n:,}} {{unit}}, and right for {{right:percent}}; the "
    "policy allows {limit:percent}.",
)
_READS = Sentence("reconstructed_claims.reads", " For {share:percent} of these, {name} can be read there as it is.")

_ABOUT = (
    "Reconstructed units: people who are found by the others of their household, or by the other records of their own, "
    "where released values show what belongs together."
)
RECONSTRUCTED_UNITS = (
    Declaration(
        "reconstructed_units",
        about=_ABOUT,
        asks="An intruder who knows the quasi-identifiers of all members of a unit finds no more people than by each "
        "one's own, beyond what the policy allows.",
        helps="Members of one unit share a value that few others have: leave it out, coarsen it until dozens of units "
        "share each value, mask it for each member by itself, or release one record of each unit (docs/households.md).",
    ),
    Declaration(
        "reconstructed_claims",
        about=_ABOUT,
        asks="An intruder who knows the quasi-identifiers of all members of a unit is sure of a record, and right, for "
        "no more people than the policy allows.",
        helps="Units that are put together and have rare members are recognised for certain: top-code sizes and group "
        "rare quasi-identifiers, or treat the shared value as reconstructed_units says.",
    ),
)

_MAY_NAME = (Role.OTHER, Role.IDENTIFIER)
_SHARED = (Role.OTHER, Role.WEIGHT)
_CODES = (Kind.NOMINAL, Kind.TEXT, Kind.INTEGER)
_SMALLEST, _LARGEST, _FEWEST = 1.5, 30, 20  # records of a unit on average and at most, and units
_BANDS = 8  # into which a key is divided that is a number, and masked
_NESTED = 0.8  # of the records with one number are of one unit, which is the same then
_RETAINED = 0.9  # share of the people, from which a number is compared as it is


def has_units(files: Comparison) -> bool:
    """Whether the original says of records that they belong together."""
    return next(_units(files), None) is not None


def judge_reconstructed_units(limits: UnitLimits, files: Comparison) -> list[Finding]:
    """Two findings on each variable of the original that names what records belong to; one where nothing shows it.

    files  : paired
    raises : DataError when the files differ in length, and so are not paired
    cost   : that of reconstruct_units for each such variable
    """
    if not len(files.original) == len(files.recoded) == len(files.masked):
        raise DataError("Units need the released record of each original one; the files differ in length.")
    keys = {
        name: _key(name, files) for name in with_role(files.variables, Role.QUASI_IDENTIFIER) if _is_known(name, files)
    }
    columns = [_released_column(name, files) for name in files.released if name in files.masked]
    findings: list[Finding] = []
    for group, units in _units(files):
        known, released = ([pair[side] for pair in keys.values()] for side in (0, 1))
        found = reconstruct_units(known, released, columns, units, files.rng, limits.people)
        findings += _findings(limits, found, group, [*keys], files)
    return findings


def _units(files: Comparison) -> Iterator[tuple[str, IntArray]]:
    """What records belong to, in a word, and the number of each one's; a name that is missing is nobody else's.

    Also what the contract does not call a unit: a code that is not released and that a few records each share; a number
    that is the same for a few each who are alike in something else, or stand together in the source, as a household's
    weight is.
    """
    seen: list[IntArray] = []
    named = [(name, GROUP_WORDS[role]) for role in GROUPS for name in with_role(files.variables, role)]
    perhaps = [
        (name, f"unit of {name}")
        for name, variable in files.variables.items()
        if variable.role in _MAY_NAME and variable.kind in _CODES and name not in files.masked
    ]
    numbers = [
        (name, f"unit of {name}")
        for name, variable in files.variables.items()
        if variable.role in _SHARED and variable.kind.is_numeric and name in files.masked
    ]
    for name, group in [*named, *perhaps, *numbers]:
        if name not in files.original:
            continue
        codes = pd.factorize(files.original[name])[0].astype(np.int64)
        unnamed = codes < 0
        if (name, group) in numbers:
            unnamed |= np.bincount(np.maximum(codes, 0))[codes] > _LARGEST
            if not _is_shared(name, files, codes, unnamed) or any(_is_within(codes, each, ~unnamed) for each in seen):
                continue
        elif name not in dict(named) and not _are_units(codes[~unnamed], len(codes)):
            continue
        codes[unnamed] = codes.max(initial=-1) + 1 + np.arange(np.count_nonzero(unnamed))
        codes = pd.factorize(codes)[0].astype(np.int64)
        if not any(np.array_equal(codes, other) for other in seen):
            seen.append(codes)
            yield group, codes


def _are_units(codes: IntArray, n: int) -> bool:
    """Whether so many records share a code as of a household or a firm, never as many as an amount in round numbers."""
    sizes = np.bincount(codes)
    return 2 * len(codes) >= n and len(sizes) >= _FEWEST and sizes.mean() >= _SMALLEST and sizes.max() <= _LARGEST


def _is_within(codes: IntArray, units: IntArray, of: BoolArray) -> bool:
    """Whether records with one code are nearly always of one unit, which is judged anyway."""
    rows = np.flatnonzero(of)
    rows = rows[np.argsort(codes[rows], kind="stable")]
    same = codes[rows][1:] == codes[rows][:-1]
    return bool((units[rows][1:] == units[rows][:-1])[same].mean() >= _NESTED)


def _is_shared(name: str, files: Comparison, codes: IntArray, unnamed: BoolArray) -> bool:
    """Whether a number is the same for records that belong together, and not by chance or because it is a round one."""
    if not _are_units(pd.factorize(codes[~unnamed])[0].astype(np.int64), len(codes)):
        return False
    rows = np.flatnonzero(~unnamed)
    values = plain_values(files.original[name])[rows]
    labels = [each for each, variable in files.variables.items() if variable.kind.is_categorical]
    others = [category_codes(files.original[each])[rows].astype(np.int64) for each in labels]
    return belong_together(codes[rows], [values], others, np.random.default_rng(0))  # asked twice: the same both times


def _is_known(name: str, files: Comparison) -> bool:
    return name in files.released and name in files.recoded and name in files.masked


def _key(name: str, files: Comparison) -> tuple[IntArray, IntArray]:
    """Codes of what is known and of what is released; of a number that was masked, those of its bands."""
    before, after = plain_values(files.recoded[name]), plain_values(files.masked[name])
    if before.dtype.kind == after.dtype.kind == "f":
        same = (before == after) | (np.isnan(before) & np.isnan(after))
        present = before[~np.isnan(before)]
        if same.mean() < _RETAINED and len(present):
            edges = np.unique(np.quantile(present, np.arange(1, _BANDS) / _BANDS))
            before, after = (
                np.where(np.isnan(values), -1.0, np.searchsorted(edges, values, "right")) for values in (before, after)
            )
    both = _codes(np.concatenate([before, after]))
    return both[: len(before)], both[len(before) :]


def _released_column(name: str, files: Comparison) -> ReleasedColumn:
    values, variable = plain_values(files.masked[name]), files.released[name]
    is_number = values.dtype.kind == "f" and variable.role not in GROUPS
    return ReleasedColumn(name, _codes(values), values if is_number else None)


def _codes(values: PlainArray) -> IntArray:
    if values.dtype.kind != "f":
        values = np.where(pd.isna(values), "\0missing", values).astype(str)
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def _findings(
    limits: UnitLimits, found: Reconstruction | None, group: str, keys: list[str], files: Comparison
) -> list[Finding]:
    n = len(files.original)
    if found is None:
        return [_finding("reconstructed_units", Verdict.PASS, _SAYS.apart(group=group), limits, group, n, n, 0.0)]
    people = len(found.rows)
    about: dict[str, Any] = {
        "known": keys or ["number"],
        "group": group,
        "near": list(found.near),
    }
    about |= {"n": people, "unit": files.unit}
    alone = float(found.alone.mean())
    share, said = reported_share(round(float(found.found.sum())), people, files.minimum_cell)
    finds = _SAYS.finds(
        **about, share=said, alone=disclosed_share(alone, people, files.minimum_cell), limit=limits.found
    )
    right, rightly = reported_share(int(found.right.sum()), people, files.minimum_cell)
    _, claimed = reported_share(int(found.claimed.sum()), people, files.minimum_cell)
    sure = _CLAIMS(**about, claimed=claimed, right=rightly, limit=limits.claims) + (
        _reads(found, files) if right else ()
    )
    findings = []
    for rule, success, allowed, says, observed in (
        ("reconstructed_units", found.found, min(1.0, limits.found + alone), finds, share),
        ("reconstructed_claims", found.right.astype(np.float64), limits.claims, sure, right),
    ):
        low, high = _interval(float(success.mean()), found)
        verdict = verdict_within((low, high), allowed)
        near = if_near(verdict, float(success.mean()), allowed, None if observed is None else (low, high))
        findings.append(_finding(rule, verdict, says + near, limits, group, n, people, observed, allowed))
    return findings


def _reads(found: Reconstruction, files: Comparison) -> Saying:
    """Of how many who are found for certain the sensitive variable that is masked least is read rightly."""
    rows = found.rows[found.right]
    shares: dict[str, float] = {}
    for name in with_role(files.variables, Role.SENSITIVE):
        if _is_known(name, files):
            known, released = _key(name, files)
            shares[name] = float((known[rows] == released[rows]).mean())
    if not shares:
        return ()
    name = max(shares, key=lambda each: shares[each])
    return _READS(share=disclosed_share(shares[name], len(rows), files.minimum_cell), name=name)


def _interval(share: float, found: Reconstruction) -> tuple[float, float]:
    """The exact one of as many cases as there are units; of all people of the file the share is what it is."""
    if found.complete:
        return share, share
    units = len(np.unique(found.units))
    return AttackSuccess(units, units, min(1.0, share) * units).exact()


def _finding(
    rule: str, verdict: Verdict, says: Saying, limits: UnitLimits, scope: str, attempted: int, completed: int,
    observed: float | None = None, limit: float | None = None,
) -> Finding:  # fmt: skip
    return Finding(
        rule=rule, verdict=verdict, **as_fields(says), scope=scope, stage="reference", observed=observed, limit=limit,
        attempted=attempted, completed=completed, binding=limits.binding,
    )  # fmt: skip
