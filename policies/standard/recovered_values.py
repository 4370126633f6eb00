"""Recovered values: a key or a sensitive variable that was removed or coarsened is a function of columns that stayed.

What comes back counts as if it had been released: for the crowd in which each person stands, and for the sensitive
values of a group. Of whom it is not told, but between which values it lies, stands with those who may have the same. So
does a sensitive value that is told by which cells were blanked, recoded, rounded or altered.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from policies.reported_shares import disclosed_share
from sluice.ground.arrays import BoolArray, IntArray
from sluice.ground.comparable_values import plain_values
from sluice.ground.declaration import Declaration
from sluice.ground.frame_columns import with_columns
from sluice.ground.rule import Background, DisclosureRule
from sluice.ground.sentence import Saying, Sentences, as_fields
from sluice.ground.variables import GROUPS, Kind, Role, with_role
from sluice.ground.verdict import Finding, Verdict
from sluice.risk.classes.equivalence_classes import category_codes, classes_of
from sluice.risk.classes.k_anonymity import KAnonymity
from sluice.risk.classes.l_diversity import LDiversity
from sluice.risk.classes.microdata_rule import FrequencyRule, KeyedRecords
from sluice.risk.classes.sample_uniques import SampleUniquesShare
from sluice.risk.classes.sensitive_rule import SensitiveRule
from sluice.risk.people_of_records import groups_of_people, people_of
from sluice.risk.reference.functional_dependence import Told, parts_of, told_of
from sluice.risk.reference.shared_ratios import shared_ratios
from sluice.risk.reference.steered_masking import (
    MORE_THAN_HALF,
    KnownByKeys,
    Mark,
    form_marks,
    joint_marks,
    marks_of,
    near_values,
    steered_by,
    truth_of,
)
from sluice.risk.reference.value_forms import forms_of
from sluice.risk.row_groups import row_groups
from sluice.risk.spread import on_one_grid
from sluice.utility.comparison import Comparison

_READ = (
    "{name:Word}, which was removed, grouped or suppressed, can be read off {by:listed}, surely and rightly for "
    "{share:percent} of those who have not its commonest value."
)
_TOLD = (
    "{share:percent} of the {unit} alike in what masking did to {by:listed} have the same value of {name:word}, which "
    "the file hides; their quasi-identifiers predict it for {expected:percent}."
)
_SAYS = Sentences(
    "recovered_values",
    nothing="No quasi-identifier or sensitive variable that was removed, grouped or suppressed is a function of the "
    "released columns.",
    kept=f"{_READ} With it, the policy's rules on groups of look-alikes still hold.",
    too_few=f"{_READ} With it, {{below:,}} of {{n:,}} {{unit}} share their quasi-identifiers with too few others; the "
    "policy asks for {k:,}.",
    too_many_alone=f"{_READ} With it, {{alone:percent}} of the {{unit}} are alone with their quasi-identifiers; the "
    "policy allows {limit:percent}.",
    too_alike=f"{_READ} With it, groups of look-alikes hold too few sensitive values.",
    no_groups=f"{_READ} No rule of the policy is about groups of look-alikes, so this needs a decision.",
    steered=f"{_TOLD} Masking may reveal it for half of them, or for {{beyond:percent}} more than keys do.",
    steered_open=f"{_TOLD} Chance does not explain it, but it may be half of such {{unit}} or fewer, so this needs a "
    "decision.",
    drawn_together="{by:few} are in one proportion for {unit} who belong together, as in one cluster of a survey or "
    "one household, so that one known record leads to the others. There {below:,} of {n:,} {unit} share their "
    "quasi-identifiers with too few; the policy asks for {k:,} in the whole file. Whether this may be needs a "
    "decision.",
    steered_unruled=f"{_TOLD} No rule of the policy is about the sensitive values of groups, so this needs a decision.",
)

RECOVERED_VALUES = (
    Declaration(
        "recovered_values",
        about="Recovered values: a quasi-identifier or sensitive variable that was removed, grouped or suppressed, and "
        "that other released columns determine.",
        asks="With every variable that released columns give back, the policy's rules on groups of look-alikes still "
        "hold. Which values were blanked, recoded, rounded or altered, and how released numbers end, tells no "
        "sensitive value that the file hides.",
        helps="Remove or coarsen the columns that the finding names, too: a weight that only one stratum has, a code "
        "whose first digits are an area, the parts of a total, a rank or score within classes. Or release the variable "
        "as it is, and mask the file until the rules hold with it. Blank, recode, round and perturb by "
        "quasi-identifiers alone, or the same for everybody: not for those who have a value that nobody is to know. "
        "Leave replicate weights out, or draw them anew (docs/weights.md).",
        source="Sources: Farkas and Jajodia (2002); Huhtala, Kärkkäinen, Porkka and Toivonen (1999); Wong, Fu, Wang "
        "and Pei (2007).",
    ),
)

_COMES_BACK = 0.2  # of those who have not the value that is told most often: others are told by what goes together
_FEWEST = 5
_PEOPLE = 5_000  # who are looked at,
_TAUGHT = 50_000  # who are looked at where a released column seems to keep a variable's order
_HIDDEN = 200  # and so many, at least, of whom a variable is hidden
_FEW_TEXTS = 0.2  # different texts by person, up to which they are the categories of a code
_SUPPRESSED = 30  # values, at least, for a figure
_NEARLY_ALL = 0.9  # of those who have a value of a key are marked: who has no mark has another
_FEW_VALUES = 8  # apart, at most, the bounds of who may be in each group of keys and a value between them
_CROSSED = 100  # values of a released key, at most, within which marks are looked at


@dataclass(frozen=True)
class _Hidden:
    """A variable of which the file tells less than the original; the true values, and of whom they are hidden."""

    name: str
    values: "pd.Series[Any]"
    of: BoolArray
    own: bool  # its own column still tells something


def judge_recovered_values(rules: Sequence[DisclosureRule], files: Comparison) -> list[Finding]:
    """A finding for each variable that comes back, or that masking tells of groups; or one that none does.

    rules : of the policy; those on groups of look-alikes are asked again with what came back
    files : paired
    cost  : for each variable that was removed, grouped or suppressed, some tables and two trees of 5,000 people; where
            a released column seems to keep its order, two trees of 50,000 and few columns
    """
    rng, n = files.rng, len(files.masked)
    columns = {
        name: files.masked[name]
        for name, variable in files.released.items()
        if name in files.masked and variable.role not in GROUPS and variable.kind is not Kind.ITEMS
    }
    keys = [name for name in with_role(files.released, Role.QUASI_IDENTIFIER) if name in columns]
    hidden_ones = list(_hidden(files))
    rows = _looked_at(hidden_ones, n, rng) if hidden_ones else np.zeros(0, np.int64)
    units = groups_of_people(files.original, files.variables)
    few = {name: column.iloc[rows] for name, column in columns.items()} if hidden_ones else {}
    parts = {name: parts_of(name, column) for name, column in few.items()}
    found = []
    for hidden in hidden_ones:
        known = [name for name in keys if hidden.own or name != hidden.name]
        known += [hidden.name] if hidden.own and hidden.name not in keys else []
        others = {name: column for name, column in few.items() if hidden.own or name != hidden.name}
        drawn = rng.spawn(1)[0]
        truth = plain_values(hidden.values)
        told = told_of(truth[rows], known, others, np.arange(len(rows)), drawn, parts, hidden.of[rows], units[rows])
        if (_comes_back(told) or told.orders) and len(rows) < n:
            chosen = {name: columns[name] for name in dict.fromkeys((*known, *told.by, *told.orders))}
            taught = rows
            if told.orders:  # the more are known, the nearer they are to each record
                taught = np.union1d(rows, drawn.choice(n, min(n, _TAUGHT), replace=False))
            told = told_of(truth, known, chosen, taught, drawn, of=hidden.of, units=units)
        if _comes_back(told):
            found.append(_judged(rules, files, hidden, told, keys))
    found += judge_steered_masking(rules, files)
    found += _judge_drawn_together(rules, files, keys)
    if found:
        return found
    return [
        Finding(
            rule="recovered_values", verdict=Verdict.PASS, stage="reference", observed=0.0, limit=_COMES_BACK,
            attempted=n, completed=n, **as_fields(_SAYS.nothing()),
        )
    ]  # fmt: skip


def _hidden(files: Comparison) -> Iterator[_Hidden]:
    """Quasi-identifiers and sensitive variables that were removed, recoded, or suppressed for some."""
    for name, variable in files.variables.items():
        if variable.role not in (Role.QUASI_IDENTIFIER, Role.SENSITIVE) or variable.kind is Kind.ITEMS:
            continue
        original = files.original[name]
        if variable.kind is Kind.TEXT and original.nunique() > _FEW_TEXTS * len(original):
            continue  # a text of one's own, and no code
        if name not in files.masked or name not in files.released:
            if name not in files.told_of:
                yield _Hidden(name, original, np.ones(len(original), np.bool_), own=False)
            continue
        recoded = files.recoded[name]
        coarser = _differs(original, recoded)
        if np.count_nonzero(coarser) >= _SUPPRESSED:
            yield _Hidden(name, original, coarser, own=True)
        suppressed = (files.masked[name].isna() & recoded.notna()).to_numpy(bool)
        if np.count_nonzero(suppressed) >= _SUPPRESSED:
            yield _Hidden(name, recoded, suppressed, own=False)


def _differs(one: "pd.Series[Any]", other: "pd.Series[Any]") -> BoolArray:
    """Whose value another file does not have, numbers to a hundredth of their spread."""
    before, after = plain_values(one), plain_values(other)
    if before.dtype.kind != after.dtype.kind:
        return ~pd.isna(before)
    before, after = on_one_grid(before, after)
    return np.asarray((before != after) & ~pd.isna(before))


def _looked_at(hidden_ones: Sequence[_Hidden], n: int, rng: np.random.Generator) -> IntArray:
    """Some thousand people at random, and some of whom alone a variable is hidden."""
    if n <= _PEOPLE:
        return np.arange(n)
    chosen = [rng.choice(n, _PEOPLE, replace=False)]
    for hidden in hidden_ones:
        of = np.flatnonzero(hidden.of)
        if len(of) * _PEOPLE < n * _HIDDEN:
            chosen.append(rng.choice(of, min(len(of), _HIDDEN), replace=False))
    return np.unique(np.concatenate(chosen))


def _comes_back(told: Told) -> bool:
    success = told.success
    if success.successes < _FEWEST:
        return False
    centre, half = success.wilson()
    return centre + half >= _COMES_BACK


def _judged(
    rules: Sequence[DisclosureRule], files: Comparison, hidden: _Hidden, told: Told, keys: list[str]
) -> Finding:
    """What the rules on groups say of the file with this variable."""
    success = told.success
    share = disclosed_share(success.share, success.completed, files.minimum_cell)
    about: dict[str, Any] = {"name": hidden.name, "by": told.by, "share": share, "unit": files.unit}
    verdict, says = Verdict.PASS, _SAYS.kept(**about)
    is_key = files.variables[hidden.name].role is Role.QUASI_IDENTIFIER
    on_crowds = [rule for rule in rules if isinstance(rule, FrequencyRule) and _looks_at(rule, hidden.name)]
    on_values = [rule for rule in rules if isinstance(rule, SensitiveRule)]
    broken: Saying | None = None
    if is_key:
        for on_crowd in on_crowds:
            broken = broken or _too_few(on_crowd, files, hidden, told, keys, about)
    for on_value in on_values:
        for each in filter(None, (told, told.finer)):
            broken = broken or _too_alike(on_value, files, hidden, each, keys, about)
    if broken:
        verdict, says = Verdict.FAIL, broken
    elif not any(isinstance(rule, FrequencyRule | SensitiveRule) for rule in rules):
        verdict, says = Verdict.REVIEW, _SAYS.no_groups(**about)
    return Finding(
        rule="recovered_values", verdict=verdict, stage="reference", scope=hidden.name,
        observed=share if isinstance(share, float) else None,
        limit=_COMES_BACK, attempted=len(files.masked), completed=int(np.count_nonzero(told.looked_at)),
        **as_fields(says),
    )  # fmt: skip


def _looks_at(rule: FrequencyRule, name: str) -> bool:
    return rule.columns is None or name in rule.columns


def _too_few(
    rule: FrequencyRule, files: Comparison, hidden: _Hidden, told: Told, keys: list[str], about: dict[str, Any]
) -> Saying | None:
    """Whether a rule on crowds breaks that would hold without the variable."""
    frame, variables = files.masked_with_people
    before = (
        KeyedRecords(frame, variables, keys, background=Background(files.recoded, files.minimum_cell)).frequencies(
            rule.missing_matches
        )
        if keys
        else np.full(len(frame), len(frame))
    )
    others = [name for name in keys if hidden.own or name != hidden.name]
    after = _crowds(files, hidden, told, others)
    if told.finer:
        after = np.minimum(after, _crowds(files, hidden, told.finer, others))
    judged = np.ones(len(after), np.bool_)
    if rule.missing_matches == "any" and others:
        judged = files.masked[others].notna().all(axis=1).to_numpy(bool)  # the others have a larger crowd
    if isinstance(rule, KAnonymity):
        below = int(np.count_nonzero(judged & (after < rule.k) & (before >= rule.k)))
        return _SAYS.too_few(below=below, n=len(after), k=rule.k, **about) if below else None
    if isinstance(rule, SampleUniquesShare):
        alone = float((judged & (after == 1)).mean())
        was = float((judged & (before == 1)).mean())
        return _SAYS.too_many_alone(alone=alone, limit=rule.at_most, **about) if alone > rule.at_most >= was else None
    return None


def _crowds(files: Comparison, hidden: _Hidden, told: Told, keys: list[str]) -> IntArray:
    """For each record, how many people share its keys and may have its value of the variable: those who are told to
    have it, and those of whom it is not known, where it lies within what is known of them."""
    frame, variables = files.masked_with_people
    people = people_of(frame, variables)
    classes = classes_of(frame, keys, people) if keys else None
    labels = np.zeros(len(frame), np.int64) if classes is None else classes.labels
    is_known = told.people | told.anyway | ~hidden.of
    with_value = labels * _levels(told) + told.truth
    return _counted(with_value, is_known, people) + _possible(labels, told, np.flatnonzero(~is_known), people)


def _levels(told: Told) -> int:
    return int(max(told.truth.max(initial=0), told.high.max(initial=0))) + 1


def _possible(labels: IntArray, told: Told, of: IntArray, people: IntArray | None) -> IntArray:
    """For each record, how many of these, or of their people, have its label and may have its value; shape (n,). The
    true value of each counts, too, where its bounds err."""
    low, high = np.minimum(told.low, told.truth)[of], np.maximum(told.high, told.truth)[of]
    label = labels[of]
    if people is not None:
        pairs, place = np.unique(label * (int(people.max(initial=0)) + 1) + people[of], return_inverse=True)
        low_of, high_of = np.full(len(pairs), np.iinfo(np.int64).max), np.full(len(pairs), -1)
        np.minimum.at(low_of, place, low)
        np.maximum.at(high_of, place, high)
        label, low, high = pairs // (int(people.max(initial=0)) + 1), low_of, high_of
    values = _levels(told)
    begins, ends = np.sort(label * values + low), np.sort(label * values + high)
    asked = labels * values + told.truth
    return np.searchsorted(begins, asked, "right") - np.searchsorted(ends, asked, "left")


def _counted(label: IntArray, of: BoolArray, people: IntArray | None) -> IntArray:
    """How many of these records, or people, have the label of each record; shape (n,)."""
    codes, found = pd.factorize(label)
    if people is None:
        counts = np.bincount(codes[of], minlength=len(found))
    else:
        pairs = np.unique(codes[of].astype(np.int64) * (int(people.max(initial=0)) + 1) + people[of])
        counts = np.bincount(pairs // (int(people.max(initial=0)) + 1), minlength=len(found))
    return counts[codes]


def _too_alike(
    rule: SensitiveRule, files: Comparison, hidden: _Hidden, told: Told, keys: list[str], about: dict[str, Any]
) -> Saying | None:
    """Whether groups in which the variable is told of everybody break a rule on their sensitive values; for a rule that
    compares groups with the file, whether all groups do, where the variable is told of nearly everybody."""
    if not keys:
        return None
    labels = classes_of(files.masked, keys).labels
    hides = ~(told.people | told.anyway | ~hidden.of)
    wide = told.high - told.low
    vague = hides & ((wide > _FEW_VALUES) | (wide == _levels(told) - 1))
    untold = np.bincount(labels[hides], minlength=int(labels.max()) + 1) > 0
    through = np.bincount(labels[told.people], minlength=int(labels.max()) + 1) > 0
    rows = np.flatnonzero((through & ~untold)[labels])
    value = files.original[hidden.name].iloc[rows]
    if not isinstance(rule, LDiversity):
        rows = np.arange(len(labels) if vague.mean() <= 1 - _NEARLY_ALL else 0)
        value = files.original[hidden.name].iloc[rows]
    elif files.variables[hidden.name].role is Role.QUASI_IDENTIFIER:
        rows, codes = _who_may_have(labels, told, hides, vague)
        an_example = np.zeros(_levels(told), np.int64)
        an_example[told.truth[::-1]] = np.arange(len(labels))[::-1]
        value = files.original[hidden.name].iloc[an_example[codes]]
    if not len(rows):
        return None
    variable = files.variables[hidden.name]
    frame = with_columns(files.masked.iloc[rows].reset_index(drop=True), {hidden.name: value.reset_index(drop=True)})
    variables = {**files.released, hidden.name: variable}
    background = Background(files.recoded.iloc[rows].reset_index(drop=True), files.minimum_cell)
    if variable.role is Role.SENSITIVE:
        if rule.columns is not None and hidden.name not in rule.columns:
            return None
        rule = rule.model_copy(update={"columns": (hidden.name,)})
        background = Background(None, files.minimum_cell)
    elif not (rule.columns or with_role(files.released, Role.SENSITIVE)):
        return None
    else:
        variables[hidden.name] = variable.model_copy(update={"role": Role.QUASI_IDENTIFIER})
        already = rule.find(
            files.masked.iloc[rows].reset_index(drop=True), files.released, "masked", files.unit, background
        )
        if any(finding.verdict is Verdict.FAIL for finding in already):
            return None
    found = rule.find(frame, variables, "masked", files.unit, background)
    return _SAYS.too_alike(**about) if any(finding.verdict is Verdict.FAIL for finding in found) else None


def _who_may_have(labels: IntArray, told: Told, hides: BoolArray, vague: BoolArray) -> tuple[IntArray, IntArray]:
    """Records and codes of values that they may have: each one that is told with its own, each that is nearly told with
    all that it may be. Groups of keys and a value in which nobody is told, or in which anybody may be of whom little is
    known, are left out."""
    values = _levels(told)
    near = np.flatnonzero(hides & ~vague)
    low, high = np.minimum(told.low, told.truth)[near], np.maximum(told.high, told.truth)[near]
    wide = high - low + 1
    more = np.repeat(low - np.cumsum(wide) + wide, wide) + np.arange(int(wide.sum()))
    rows = np.append(np.flatnonzero(~hides), np.repeat(near, wide))
    codes = np.append(told.truth[~hides], more)
    place = labels[rows] * values + codes
    of_vague = np.flatnonzero(vague)
    begins = np.sort(labels[of_vague] * values + np.minimum(told.low, told.truth)[of_vague])
    ends = np.sort(labels[of_vague] * values + np.maximum(told.high, told.truth)[of_vague])
    is_open = np.searchsorted(begins, place, "right") > np.searchsorted(ends, place, "left")
    through = np.isin(place, np.unique(labels[told.people] * values + told.truth[told.people]))
    return rows[through & ~is_open], codes[through & ~is_open]


def _judge_drawn_together(rules: Sequence[DisclosureRule], files: Comparison, keys: Sequence[str]) -> Iterator[Finding]:
    """A finding for each set of numbers whose ratios show who belongs together, and leave people with too few there."""
    least = max((rule.k for rule in rules if isinstance(rule, KAnonymity) and rule.columns is None), default=0)
    numbers = {
        name: plain_values(files.masked[name])
        for role in (Role.WEIGHT, Role.OTHER)
        for name in with_role(files.released, role)
        if name in files.masked and files.released[name].kind.is_numeric
    }
    if not least or len(numbers) < 2:
        return
    n = len(files.masked)
    codes = [_ranks(files.original[name]) for name, variable in files.variables.items() if variable.kind.is_categorical]
    people = people_of(*files.masked_with_people)
    labels = classes_of(files.masked, keys, people).labels if keys else np.zeros(n, np.int64)
    for found in shared_ratios(numbers, codes, files.rng.spawn(1)[0]):
        inside = np.bincount(found.group)[found.group] > 1
        both = row_groups([labels, found.group]).of
        before, after = (_counted(each, np.ones(n, np.bool_), people) for each in (labels, both))
        below = int(np.count_nonzero(inside & (after < least) & (before >= least)))
        if below:
            yield Finding(
                rule="recovered_values", verdict=Verdict.REVIEW, stage="reference", scope=found.columns[0],
                limit=_COMES_BACK, attempted=n, completed=n,
                **as_fields(
                    _SAYS.drawn_together(by=found.columns, unit=files.unit, below=below, n=n, k=least)
                ),
            )  # fmt: skip


def judge_steered_masking(rules: Sequence[DisclosureRule], files: Comparison) -> list[Finding]:
    """A finding for each sensitive variable, hidden from the file, that what masking did to records tells of them.

    rules : of the policy; where none is about the sensitive values of groups, a person decides
    files : paired
    cost  : two passes over the released columns; for each hidden variable a tree of 20,000 people
    """
    hidden_ones = list(_hidden_answers(files))
    hidden_keys = [
        each for each in _hidden(files) if not each.own and files.variables[each.name].role is Role.QUASI_IDENTIFIER
    ]
    if not hidden_ones and not hidden_keys:
        return []
    keys = [*with_role(files.variables, Role.QUASI_IDENTIFIER)]
    looked_at = [
        name
        for name, variable in files.released.items()
        if name in files.masked and variable.role not in GROUPS and variable.kind is not Kind.ITEMS
    ]
    marks = list(filter(None, (
        marks_of(name, files.original.get(name), files.masked[name], name in keys) for name in looked_at
    )))  # fmt: skip
    columns = {name: files.original[name] for name in looked_at if name in files.original}
    forms = forms_of(columns, {name: files.masked[name] for name in columns})
    near = cache(lambda name: near_values(columns[name]))
    marks += form_marks(forms, near)
    if not marks:
        return []
    known = {name: _ranks(files.original[name]) for name in keys if files.variables[name].kind is not Kind.ITEMS}
    shown = {name: _ranks(files.masked[name]) for name in keys if name in files.masked}
    shown = {name: codes for name, codes in shown.items() if codes.max(initial=0) < _CROSSED}
    units = groups_of_people(files.original, files.variables)
    found = []
    for hidden in hidden_ones:
        others = [form for form in forms if hidden.name not in form.columns]
        joint = joint_marks(others, near, truth_of(hidden.values)[0], shown, units, files.rng.spawn(1)[0])
        found.append(_steered(rules, files, hidden, [*marks, *joint], [*known.values()], shown, units))
    if any(isinstance(rule, KAnonymity) for rule in rules):
        found += [_steered_key(rules, files, hidden, marks, known, shown, units) for hidden in hidden_keys]
    return list(filter(None, found))


def _hidden_answers(files: Comparison) -> Iterator[_Hidden]:
    """Sensitive variables that were removed, or whose released values are not the true ones, for some or all."""
    for name in with_role(files.variables, Role.SENSITIVE):
        variable, original = files.variables[name], files.original[name]
        if variable.kind is Kind.ITEMS or (name in files.masked and name not in files.released):
            continue
        if variable.kind is Kind.TEXT and original.nunique() > _FEW_TEXTS * len(original):
            continue
        if name in files.masked:
            hidden = _differs(original, files.masked[name])
            if np.count_nonzero(hidden) >= _FEWEST:
                yield _Hidden(name, original, hidden, own=bool(files.masked[name].notna().any()))
        elif name not in files.told_of:
            yield _Hidden(name, original, np.ones(len(original), np.bool_), own=False)


def _steered(
    rules: Sequence[DisclosureRule], files: Comparison, hidden: _Hidden, marks: Sequence[Mark],
    known: Sequence[IntArray], shown: dict[str, IntArray], units: IntArray,
) -> Finding | None:  # fmt: skip
    """The group that is told most, if any."""
    name = hidden.name
    truth, levels = truth_of(hidden.values)
    if levels < 2:
        return None
    own = None
    if hidden.own:
        column = files.masked[name]
        own = np.where(column.isna(), np.nan, _ranks(column))
    marks = [mark if name not in mark.columns else mark.blanks for mark in marks]
    learned = KnownByKeys(known, truth, levels, own)
    groups = list(steered_by(truth, levels, learned, marks, shown, units, _COMES_BACK, _harmless(files, hidden, truth)))
    if not groups:
        return None
    worst = max(groups, key=lambda each: (each.is_beyond(_COMES_BACK), each.people * (each.share - each.by_keys)))
    ruled = any(isinstance(rule, SensitiveRule) and (rule.columns is None or name in rule.columns) for rule in rules)
    says = _SAYS.steered if ruled else _SAYS.steered_unruled
    if not worst.is_beyond(_COMES_BACK):
        says = _SAYS.steered_open
    share = worst.share if worst.people * worst.share >= files.minimum_cell else "more than half"
    return Finding(
        rule="recovered_values", verdict=Verdict.FAIL if says is _SAYS.steered else Verdict.REVIEW, stage="reference",
        scope=name, observed=share if isinstance(share, float) else None, limit=MORE_THAN_HALF,
        attempted=len(files.masked), completed=int(np.count_nonzero(hidden.of)),
        **as_fields(
            says(
                unit=files.unit, by=worst.columns, share=share, name=name, expected=worst.by_keys, beyond=_COMES_BACK
            )
        ),
    )  # fmt: skip


def _steered_key(
    rules: Sequence[DisclosureRule], files: Comparison, hidden: _Hidden, marks: Sequence[Mark],
    known: dict[str, IntArray], shown: dict[str, IntArray], units: IntArray,
) -> Finding | None:  # fmt: skip
    """The group of whom a removed or suppressed key is told, and who share it and the others with too few, if any.

    Who knows of a person that value looks among the marked alone: hardly anybody without a mark has it.
    """
    name = hidden.name
    truth, levels = truth_of(hidden.values)
    if levels < 2:
        return None
    others = {each: codes for each, codes in shown.items() if each != name}
    learned = KnownByKeys([codes for each, codes in known.items() if each != name], truth, levels)
    marked = [mark for mark in marks if name not in mark.columns]
    frame, variables = files.masked_with_people
    keys = [each for each in with_role(files.released, Role.QUASI_IDENTIFIER) if each in frame and each != name]
    people, n = people_of(frame, variables), len(frame)
    labels = classes_of(frame, keys, people).labels if keys else np.zeros(n, np.int64)
    before = _counted(labels, np.ones(n, np.bool_), people)
    worst, says = 0, None
    for group in steered_by(truth, levels, learned, marked, others, units, _COMES_BACK):
        inside, has = np.zeros(n, np.bool_), truth == group.value
        inside[group.rows] = True
        for each in group.within:
            has &= others[each] == others[each][group.rows[0]]
        if not group.is_beyond(_COMES_BACK) or np.count_nonzero(has & inside) < _NEARLY_ALL * np.count_nonzero(has):
            continue
        crowd = _counted(labels, inside, people)
        for rule in rules:
            if not isinstance(rule, KAnonymity) or not _looks_at(rule, name):
                continue
            below = int(np.count_nonzero(inside & has & (crowd < rule.k) & (before >= rule.k)))
            if below > worst:
                usual = truth != int(np.bincount(truth[truth >= 0]).argmax())
                right = np.count_nonzero(inside & has)
                share = disclosed_share(right / max(right, np.count_nonzero(usual)), n, files.minimum_cell)
                worst, says = below, _SAYS.too_few(
                    below=below, n=n, k=rule.k, name=name, by=group.columns, share=share, unit=files.unit
                )  # fmt: skip
    if says is None:
        return None
    return Finding(
        rule="recovered_values", verdict=Verdict.FAIL, stage="reference", scope=name, limit=_COMES_BACK, attempted=n,
        completed=int(np.count_nonzero(hidden.of)), **as_fields(says),
    )  # fmt: skip


def _harmless(files: Comparison, hidden: _Hidden, truth: IntArray) -> set[int]:
    """Codes of the values that the contract calls harmless."""
    harmless = files.variables[hidden.name].harmless
    of = hidden.values.astype(str).isin(harmless.values if harmless else ()).to_numpy(bool)
    return {*truth[of].tolist()} - {*truth[~of].tolist()}


def _ranks(column: "pd.Series[Any]") -> IntArray:
    return category_codes(column).astype(np.int64)
