"""Editions of a file: what it tells together with every file of the same people that was published before."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from policies.policy import Policy
from policies.several_publications import EarlierFile, judge_publications
from schemas.contract import Contract
from sluice.custody.ledger_entry import Entry, last
from sluice.custody.states import State
from sluice.ground.arrays import BoolArray, IntArray
from sluice.ground.comparable_values import Hashes, column_hashes, scrambled
from sluice.ground.errors import DataError, SluiceError
from sluice.ground.sentence import Sentence, as_fields
from sluice.ground.variables import NAMES, Role, Variables, with_role
from sluice.ground.verdict import Finding, Verdict
from sluice.masking.joint_moves import Edition, stay_together
from sluice.publication.records_file import read_typed
from sluice.risk.classes.equivalence_classes import classes_of
from sluice.risk.publications.publication import Publication, SamePeople, rows_within, same_people
from sluice.risk.publications.renamed_variables import Described, in_later_codes
from tasks.release.documented_release import Release, StagedTable, variables_from_json
from tasks.release.editions.earlier_releases import compare_with_pruned, is_out_of_reach, publications
from tasks.release.records.record_definition import RecordsDefinition
from tasks.release.records.record_variables import (
    RecordsRelease,
    key_texts,
    read_masked,
    record_keys,
    released_variables,
)
from tasks.release.records.stored_masked_file import MaskedFile, kept_rows, row_order
from tasks.release.release_documents import Documents

_SEED_DESTROYED = Sentence(
    "joint_classes.seed_destroyed",
    "The seed of {releases:commas} was destroyed, so its records can no longer be assigned to people, and "
    "its joint disclosure with this file is unknown.",
)


def compare_publications(release: RecordsRelease) -> list[Finding]:
    """Findings on this file beside all that are or were public and hold some of its people, of any data set.

    They are found by their record keys, or by their values. Raises DataError when one is no longer in the vault.
    """
    staged = Described(release.read_staged())
    earlier, undone, unlike, strangers = {}, [], [], {}
    others: dict[str, tuple[RecordsRelease, Described]] = {}
    every = publications(release)
    for name, entries in every.items():
        other = _recorded(release, name, entries)
        if other is None or is_out_of_reach(release.product.workspace, entries):  # `pruned_publications` speaks of it
            continue
        before = other.read_staged()
        same = _same_people(other, before, release, staged)
        if same is None:
            strangers[name] = len(before)
            if release.product.contract.editions is None and _is_of_the_same(release, other):
                unlike.append(name)
            continue
        others[name] = other, Described(before)
        try:
            earlier[name] = EarlierFile(_publication(other, before), same)
        except SluiceError as error:
            if isinstance(error, DataError):
                raise
            undone.append(name)  # its seed was destroyed: nobody knows any more whose record stands where
    rng = np.random.default_rng(release.seeds().attack)
    file = _publication(release, staged.frame)

    def read(name: str, whole: str) -> EarlierFile | None:
        """Any other file, and whom it has in common with an earlier one of the people of this file."""
        other = others[name][0] if name in others else _recorded(release, name, every[name])
        assert other is not None
        before = others[name][1].frame if name in others else other.read_staged()
        same = _same_people(other, before, *others[whole])
        if same is None:
            return None
        try:
            return EarlierFile(earlier[name].file if name in earlier else _publication(other, before), same)
        except SluiceError as error:
            if isinstance(error, DataError):
                raise
            undone.append(name)
            return None

    findings = judge_publications(release.product.policy, file, earlier, release.unit, rng, unlike, strangers, read)
    return [*findings, *_not_comparable(list(dict.fromkeys(undone))), *compare_with_pruned(release)]


def _is_of_the_same(release: RecordsRelease, other: RecordsRelease) -> bool:
    """Whether another release is of the same data set, or was read from the same place."""
    mine, theirs = (last(each.entries(), State.RECEIVED) for each in (release, other))
    assert mine is not None
    assert theirs is not None
    if mine.body["dataset"] == theirs.body["dataset"]:
        return True
    same_connection = mine.body.get("connection") == theirs.body.get("connection")
    return same_connection and release.product.written.source == other.product.written.source


def stays_together(release: RecordsRelease, masked: pd.DataFrame) -> BoolArray:
    """Who stays in the file, shape (n,), so that nobody comes, leaves or changes alone since any earlier edition.

    masked  : the file as the plan makes it, whose index tells the rows of the original
    raises  : DataError when nobody would be left
    cost    : every publication of the same data set with the same record key is read once
    """
    groups, released = release.product.definition.move_together, released_variables(release)
    assert groups is not None
    editions = [*_editions_before(release), (record_keys(release, release.original)[masked.index], masked, released)]
    people, places = np.unique(np.concatenate([keys for keys, _, _ in editions]), return_inverse=True)
    ends = np.cumsum([len(keys) for keys, _, _ in editions])
    rows = np.split(places, ends[:-1])
    found = _coded([(frame, variables) for _, frame, variables in editions], rows, len(people))
    draws = scrambled(people ^ release.seeds().order.generate_state(1, np.uint64)[0])
    order = np.argsort(np.argsort(draws, kind="stable"), kind="stable")
    sensitive = with_role(released, Role.SENSITIVE)
    stay = stay_together(found[:-1], found[-1], order, groups.k, groups.newcomers, sensitive)[rows[-1]]
    if not stay.any():
        raise DataError(
            f"move_together: no class holds {groups.newcomers or groups.k} people with more than one value of each "
            "variable, so nobody is left in the file: recode the quasi-identifiers to larger classes"
        )
    return stay


def _editions_before(release: RecordsRelease) -> "Iterator[tuple[Hashes, pd.DataFrame, Variables]]":
    """Whom each record of the publications of this data set is of, the masked records, and their variables."""
    published = sorted(publications(release).items(), key=lambda item: item[1][0].seq)
    for name, entries in published:
        other = _recorded(release, name, entries)
        if other is None or is_out_of_reach(release.product.workspace, entries):
            continue
        mine, theirs = release.product.contract, other.product.contract
        if mine.dataset == theirs.dataset and mine.record_key == theirs.record_key:
            file = MaskedFile.recorded(_masking(other).body)
            try:
                order = row_order(other, kept_rows(other, file))
            except DataError:
                raise
            except SluiceError:  # its seed was destroyed, of which `compare_publications` speaks
                continue
            yield record_keys(other, other.original)[order], read_masked(other, file), released_variables(other)


def _coded(
    editions: "Sequence[tuple[pd.DataFrame, Variables]]", rows: Sequence[IntArray], people: int
) -> list[Edition]:
    """The editions by people: `rows` tells the person of each record of each."""
    classes, values = [], [dict[str, IntArray]() for _ in editions]
    for (frame, variables), places in zip(editions, rows, strict=True):
        keys = with_role(variables, Role.QUASI_IDENTIFIER)
        labels = classes_of(frame, keys).labels if keys else np.zeros(len(frame), np.int64)
        classes.append(_by_people(labels, places, people))
    names = [
        name
        for _, variables in editions
        for name, each in variables.items()
        if each.role not in (*NAMES, Role.WEIGHT, Role.QUASI_IDENTIFIER)
    ]
    for name in dict.fromkeys(names):
        having = [place for place, (frame, _) in enumerate(editions) if name in frame]
        codes = pd.factorize(np.concatenate([column_hashes(editions[place][0][name]) for place in having]))[0]
        ends = np.cumsum([len(editions[place][0]) for place in having])
        for place, part in zip(having, np.split(codes, ends[:-1]), strict=True):
            values[place][name] = _by_people(part, rows[place], people)
    return [Edition(*each) for each in zip(classes, values, strict=True)]


def _by_people(codes: IntArray, places: IntArray, people: int) -> IntArray:
    everybody = np.full(people, -1, np.int64)
    everybody[places] = codes
    return everybody


def _masking(release: RecordsRelease) -> Entry:
    masked = last(release.entries(), State.MASKED)
    if masked is None:
        raise DataError(f"{release.id} was not masked, so it cannot be compared with what was published before.")
    return masked


def _not_comparable(releases: Sequence[str]) -> list[Finding]:
    says = _SEED_DESTROYED(releases=releases)
    finding = Finding(
        rule="joint_classes", verdict=Verdict.REVIEW, stage="masked", **as_fields(says), scope=", ".join(releases)
    )
    return [finding] if releases else []


def _recorded(release: RecordsRelease, name: str, entries: Sequence[Entry]) -> RecordsRelease | None:
    """Another release of records by the documents that it was judged by; None for another product."""
    received = last(entries, State.RECEIVED)
    if received is None or received.body["product"] != release.product.definition.product:
        return None
    vault, product = release.vault, release.product
    contract, policy, plan = (
        vault.verify(received.body[document], ".json").read_bytes() for document in ("contract", "policy", "plan")
    )
    definition, judged_by = RecordsDefinition.model_validate_json(plan), Policy.model_validate_json(policy)
    documents = Documents(
        product.path, definition, definition.under(judged_by), Contract.model_validate_json(contract), judged_by,
        product.workspace,
    )  # fmt: skip
    variables = variables_from_json(vault.verify(received.body["variables"], ".json").read_bytes())
    data, original = StagedTable(**received.body["data"]), StagedTable(**received.body["original"])
    holdout = StagedTable(**received.body["holdout"]) if received.body["holdout"] else None
    return Release(documents, name, data, original, holdout, variables)


def _same_people(
    other: RecordsRelease, before: pd.DataFrame, release: RecordsRelease, staged: Described
) -> SamePeople | None:
    mine, theirs = release.staged_variables, other.staged_variables
    key = release.product.contract.record_key
    columns = [
        name
        for name, variable in mine.items()
        if name in theirs
        and name not in key
        and variable.role not in NAMES
        and theirs[name].role not in NAMES
        and (variable.kind is theirs[name].kind or (variable.kind.is_numeric and theirs[name].kind.is_numeric))
    ]
    keys: list[pd.Series[str]] = []
    if key and key == other.product.contract.record_key:
        keys = [key_texts(before, key), key_texts(staged.frame, key)]
    own = [[n for n, v in each.items() if n not in columns and v.role not in NAMES] for each in (theirs, mine)]
    rewritten = in_later_codes(before, staged, *own)  # what is called otherwise now
    if len(rewritten.columns):
        more = [*columns, *map(str, rewritten)]
        found = same_people(before[columns].join(rewritten), staged, more, *keys)
        if found is not None:
            return found
    found = same_people(before, staged, columns, *keys)
    if found is not None:
        return found
    rewritten = in_later_codes(
        before, staged, *([*columns, *names] for names in own)
    )  # perhaps all is written otherwise
    if {*columns} == {*rewritten} and rewritten[columns].equals(before[columns]):
        return None
    return same_people(rewritten, staged, [*map(str, rewritten)])


def _publication(release: RecordsRelease, staged: pd.DataFrame) -> Publication:
    """The masked file with the people of all its staged data. Raises SluiceError when its seed was destroyed."""
    file = MaskedFile.recorded(_masking(release).body)
    order = row_order(release, kept_rows(release, file))
    if release.holdout is not None:
        original = read_typed(release.vault.verify(release.original.sha256, ".parquet"), release.staged_variables)
        order = rows_within(original, staged)[order]
    return Publication(
        original=staged,
        masked=read_masked(release, file),
        people=order,
        variables=release.staged_variables,
        released=released_variables(release),
    )
