"""Rules on the population: by a list of its people, or by what the file lets one estimate of it."""

import csv
import hashlib
from abc import abstractmethod
from array import array
from collections.abc import Sequence
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
from pydantic import Field

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.errors import DataError
from sluice.ground.rule import NO_ESTIMATE, AnyOf, FileOf, Need
from sluice.ground.values import plain_array, read_dates, read_numbers, trimmed_texts
from sluice.ground.variables import Kind, Role, Variable, Variables, with_role
from sluice.ground.verdict import Finding
from sluice.risk.classes.equivalence_classes import category_codes, equivalence_classes
from sluice.risk.classes.microdata_rule import MISSING_MATCHES, KeyedRecords, KeyedRule, MissingMatches

POPULATION_SHA256 = (
    "of the list, as sha256sum prints it; another list is refused. Without it whoever can write to the file says what "
    "the rule finds"
)

_COUNT = "count"


class PopulationRule(KeyedRule):
    """A rule on a list of the population: a CSV with the key columns in released categories, a row a person.

    With a column 'count' a row stands for as many people. An empty field is a missing key.
    """

    needs: ClassVar[str] = (
        "See that the population list is a CSV file in the released categories, and that quasi-identifiers are "
        "declared in the contract."
    )

    missing_matches: MissingMatches = Field(default="category", description=MISSING_MATCHES)
    population_sha256: str | None = Field(
        default=None,
        pattern="^[0-9a-f]{64}$",
        description=POPULATION_SHA256,
    )

    def in_population(self, path: str, file: KeyedRecords) -> IntArray:
        """For each record, how many people of the list fit it, shape (n,). Raises DataError, and as `file_of` does.

        path : begins at the current folder: a policy that was adopted lies in none
        """
        where, file_of = f"{self.rule}: the population '{path}'", file.background.file_of
        people, counts = population_list(path, file.variables, file.keys, where, file_of, self.population_sha256)
        return population_frequencies(file.frame, people, file.keys, counts, self.missing_matches)


def population_list(
    path: str,
    variables: Variables,
    keys: Sequence[str],
    where: str,
    file_of: FileOf | None,
    sha256: str | None = None,
) -> tuple[pd.DataFrame, IntArray | None]:
    """The people of a list: the keys, typed by `variables` with categories as texts; and for how many each row stands.

    path    : of a CSV, from the current folder; an empty field is a missing key
    where   : how errors name it
    file_of : the file that may be read under this path; None: none may
    sha256  : of its content, if another one is to be refused
    returns : m rows; shape (m,), or None where each row is one person
    raises  : DataError for a file that is no such list; what `file_of` raises
    """
    if file_of is None:
        raise DataError(f"{where} may not be read here.")
    try:
        content = file_of(Path(), path, where).read_bytes()  # once: what is hashed is what is read
        if sha256 not in (None, hashlib.sha256(content).hexdigest()):
            raise DataError(f"{where} is not the list that was named: its SHA-256 differs.")
        table = _texts(content, keys, where)
    except OSError as error:
        raise DataError(f"{where} cannot be read ({type(error).__name__}). Is it a CSV file in UTF-8?") from error
    counts = None
    if _COUNT in table and _COUNT not in keys:
        numbers = read_numbers(trimmed_texts(plain_array(table[_COUNT]))).to_pandas()
        if not (numbers.ge(0) & numbers.mod(1).eq(0)).all():
            raise DataError(f"{where} must have whole numbers of 0 or more in 'count'.")
        counts = numbers.to_numpy(np.int64)
    return pd.DataFrame({name: _typed(table[name], variables[name], where) for name in keys}), counts


def _texts(content: bytes, keys: Sequence[str], where: str) -> "pd.DataFrame":
    """The keys and counts of a list as texts; an empty cell is missing.

    By Python's own parser: a list lies outside the vault, and is read beside it. Each different text is held once.
    cost : a microsecond a cell
    """
    reader = csv.reader(TextIOWrapper(BytesIO(content), "utf-8-sig", newline=""), strict=True)
    try:
        header = next(filter(None, reader), None)
        if header is None:
            raise DataError(f"{where} is empty.")
        for name in keys:
            if name not in header:
                raise DataError(f"{where} has no column '{name}'.", came=name, allowed=header)
        used = list(dict.fromkeys((*keys, *({_COUNT} & {*header}))))
        places = [header.index(name) for name in used]
        known: list[dict[str, int]] = [{} for _ in used]
        codes = [array("i") for _ in used]
        columns = list(zip(places, known, codes, strict=True))
        for row in filter(None, reader):
            if len(row) != len(header):
                raise DataError(f"{where}, line {reader.line_num}: has {len(row)} cells; the header has {len(header)}.")
            for place, texts, code in columns:
                code.append(texts.setdefault(row[place], len(texts)))
    except (UnicodeDecodeError, csv.Error) as error:
        why = error if isinstance(error, csv.Error) else type(error).__name__
        raise DataError(
            f"{where} cannot be read near line {reader.line_num} ({why}). Is it a CSV file in UTF-8?"
        ) from error
    read = [pa.array([text or None for text in texts], pa.string()) for texts in known]
    taken = [texts.take(pa.array(np.asarray(code))).to_pandas() for texts, code in zip(read, codes, strict=True)]
    return pd.DataFrame({name: column.astype("str") for name, column in zip(used, taken, strict=True)})


def _typed(column: pd.Series, variable: Variable, where: str) -> pd.Series:
    """A column of texts in the type that the file has for the variable."""
    if not variable.kind.is_numeric and variable.kind is not Kind.DATE:
        return column
    texts = trimmed_texts(plain_array(column))
    read = read_numbers(texts) if variable.kind.is_numeric else read_dates(texts)
    typed: pd.Series = read.to_pandas()
    fractions = variable.kind is Kind.INTEGER and not (typed.isna() | typed.mod(1).eq(0)).all()
    if fractions or (typed.isna() & column.notna()).any():
        raise DataError(f"{where} holds values of '{variable.name}' that are not of the kind {variable.kind}.")
    return typed


class PopulationEstimate(KeyedRule):
    """A rule on an estimate for the population. What cannot be estimated is UNKNOWN."""

    needs: ClassVar[str] = (
        "Declare one variable with the role weight that is more than 0 for every record, or give the rule the sampling "
        "fraction; of very few records nothing can be estimated."
    )

    weight: str | None = Field(
        default=None, description="variable with the sampling weights; the one with the role weight by default"
    )

    @property
    def requires(self) -> tuple[AnyOf, ...]:
        return (*super().requires, (Need.WEIGHT,)) if self.uses_weights and self.weight is None else super().requires

    def misfits(self, variables: Variables) -> list[str]:
        weight = variables.get(self.weight or "")
        numbers = weight is None or weight.kind.is_numeric
        says = f"weighs by '{self.weight}', which holds no numbers. Name a variable of sampling weights."
        return super().misfits(variables) + [says] * (not numbers)

    @property
    def uses_weights(self) -> bool:
        """Whether the population is known by nothing but the sampling weights."""
        return True

    def judge(self, file: KeyedRecords) -> list[Finding]:
        try:
            return self.estimate(file.once_a_person)
        except DataError as error:
            return [self.unknown(file.stage, NO_ESTIMATE(why=str(error)), len(file))]

    @abstractmethod
    def estimate(self, file: KeyedRecords) -> list[Finding]:
        """The findings on the records of each person once; DataError says why nothing can be estimated."""

    def weights(self, file: KeyedRecords) -> FloatArray:
        """Sampling weights, shape (n,). Raises DataError where one is missing or it is not clear which they are."""
        frame, names = file.frame, with_role(file.variables, Role.WEIGHT) if self.weight is None else [self.weight]
        if len(names) != 1:
            raise DataError(
                f"The file declares {'no variable' if not names else 'several variables'} with the role weight; "
                "this rule needs one that tells how many people a record stands for, or its name in 'weight'."
            )
        if names[0] not in frame or not pd.api.types.is_numeric_dtype(frame[names[0]].dtype):
            raise DataError(f"The weight '{names[0]}' is not a column of numbers in the file.")
        weights = frame[names[0]].to_numpy(np.float64, na_value=np.nan)
        if not (np.isfinite(weights) & (weights > 0)).all():
            raise DataError(f"The weight '{names[0]}' is missing or not more than 0 for some records.")
        return weights


def population_frequencies(
    frame: pd.DataFrame,
    population: pd.DataFrame,
    columns: Sequence[str],
    counts: IntArray | None = None,
    missing_matches: Literal["category", "any"] = "category",
) -> IntArray:
    """For each record of a file, how many people of the population fit its combination of keys.

    frame, population : typed alike in `columns`, any index; n and m rows
    counts            : shape (m,), people that each row stands for, 0 or more; 1 when not given
    missing_matches   : category, a missing key fits a missing key alone; any, one of the
                        record fits anybody, and a person of the list whose key is missing vouches for nobody
    returns           : shape (n,)
    raises            : DataError if a column is missing or of another type in the population, or a count is wrong
    cost              : O((n + m) keys), times the number of pairs of patterns of missing keys with 'any'
    """
    for name in columns:
        if name not in population:
            raise DataError(f"k-map: the population has no column '{name}'.", came=name, allowed=population.columns)
    if counts is None:
        counts = np.ones(len(population), dtype=np.int64)
    if len(counts) != len(population):
        raise DataError(f"k-map needs one count a row of the population; got {len(counts)} for {len(population)} rows.")
    if len(counts) and counts.min() < 0:
        raise DataError("k-map: the counts of the population must be 0 or more.")
    n = len(frame)
    codes = [_joint_codes(frame[name], population[name]) for name in columns]
    if missing_matches == "category":
        return _joined(codes, np.arange(n), np.arange(n, n + len(counts)), counts)
    missing = np.column_stack([np.concatenate([side[name].isna() for side in (frame, population)]) for name in columns])
    patterns, pattern = np.unique(missing, axis=0, return_inverse=True)
    frequency = np.zeros(n, dtype=np.int64)
    rows = [np.flatnonzero(pattern == label) for label in range(len(patterns))]
    for ours, mine in zip(patterns, rows, strict=True):
        records = mine[mine < n]
        for others, theirs in zip(patterns, rows, strict=True):
            people = theirs[theirs >= n]
            if len(records) and len(people) and not (others & ~ours).any():
                shown = [code for code, gap in zip(codes, ours, strict=True) if not gap]
                frequency[records] += _joined(shown, records, people, counts[people - n])
    return frequency


def _joint_codes(ours: "pd.Series", theirs: "pd.Series") -> IntArray:
    """Codes of the values of both files, equal for equal values."""
    if pd.api.types.is_numeric_dtype(ours.dtype) != pd.api.types.is_numeric_dtype(theirs.dtype):
        raise DataError(
            f"k-map: '{ours.name}' must be of one type in both files; got {ours.dtype} and {theirs.dtype} in the "
            "population."
        )
    if isinstance(ours.dtype, pd.CategoricalDtype) and isinstance(theirs.dtype, pd.CategoricalDtype):
        known = ours.cat.categories.union(theirs.cat.categories, sort=False)
        ours, theirs = ours.cat.set_categories(known), theirs.cat.set_categories(known)
    return category_codes(pd.concat([ours, theirs], ignore_index=True)).astype(np.int64)


def _joined(codes: list[IntArray], records: IntArray, people: IntArray, counts: IntArray) -> IntArray:
    """For each of the records, the count of the people who have the same codes; without codes, of all."""
    if not codes:
        return np.full(len(records), counts.sum(), dtype=np.int64)
    rows = np.concatenate([records, people])
    classes = equivalence_classes([code[rows] for code in codes])
    held = np.zeros(len(classes.sizes), dtype=np.int64)
    np.add.at(held, classes.labels[len(records) :], counts)
    return held[classes.labels[: len(records)]]
