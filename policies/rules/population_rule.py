"""PopulationRule: a rule on a list of the population, by how many people in it fit a released record."""

import hashlib
from io import BytesIO
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd
from pydantic import Field

from policies.rules.frequency_rule import MISSING_MATCHES, MissingMatches
from policies.rules.keyed_rule import KeyedRule
from sluice.ground.arrays import IntArray
from sluice.ground.errors import DataError
from sluice.ground.rule import Background
from sluice.ground.values import plain_array, read_dates, read_numbers, trimmed_texts
from sluice.ground.variables import Kind, Variable, Variables
from sluice.risk.population import k_map

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
        description="of the list, as sha256sum prints it; another list is refused. Without it whoever can write to the "
        "file says what the rule finds",
    )

    def in_population(
        self, path: str, frame: pd.DataFrame, variables: Variables, keys: list[str], background: Background
    ) -> IntArray:
        """For each record, how many people of the list fit it, shape (n,). Raises DataError, and as `file_of` does.

        path : begins at the current folder: a policy that was adopted lies in none
        """
        where = f"{self.rule}: the population '{path}'"
        if background.file_of is None:
            raise DataError(f"{where} may not be read here.")
        try:
            content = background.file_of(Path(), path, where).read_bytes()  # once: what is hashed is what is read
            if self.population_sha256 not in (None, hashlib.sha256(content).hexdigest()):
                raise DataError(f"{where} is not the list that the policy names: its SHA-256 differs.")
            header = pd.read_csv(BytesIO(content), nrows=0).columns
            used = [*keys, *({_COUNT} & set(header) - set(keys))]
            for name in used:
                if name not in header:
                    raise DataError(f"{where} has no column '{name}'.", came=name, allowed=header)
            table = pd.read_csv(BytesIO(content), usecols=used, dtype="str", keep_default_na=False, na_values=[""])
        except (OSError, ValueError) as error:  # a wrong encoding or an empty file is a ValueError
            raise DataError(f"{where} cannot be read ({type(error).__name__}). Is it a CSV file in UTF-8?") from error
        counts = None
        if _COUNT in used and _COUNT not in keys:
            numbers = read_numbers(trimmed_texts(plain_array(table[_COUNT]))).to_pandas()
            if not (numbers.ge(0) & numbers.mod(1).eq(0)).all():
                raise DataError(f"{where} must have whole numbers of 0 or more in 'count'.")
            counts = numbers.to_numpy(np.int64)
        typed = pd.DataFrame({name: _typed(table[name], variables[name], where) for name in keys})
        return k_map.population_frequencies(frame, typed, keys, counts, self.missing_matches)


def _typed(column: pd.Series, variable: Variable, where: str) -> pd.Series:
    """A column of texts in the type that the file has for the variable."""
    if not variable.kind.is_numeric and variable.kind is not Kind.DATE:
        return column
    texts = trimmed_texts(plain_array(column))
    read = read_numbers(texts) if variable.kind.is_numeric else read_dates(texts)
    typed: pd.Series = read.to_pandas()
    if (typed.isna() & column.notna()).any():
        raise DataError(f"{where} holds values of '{variable.name}' that are not of the kind {variable.kind}.")
    return typed
