"""Attribute risk: what each variable by itself tells of whose record it is.

Source: Yamazoe and Omote (2021), section 2.4, equation (1), after Ito, Kikuchi and Nakagawa (2019).

How likely an intruder comes upon a value of this variable and knows by it whose it is: Pr(idf, x) = Pr(x) Pr(idf | x) =
(|R_x| / m) (1 / |U_x|), with R_x the records that hold the value x and U_x the people in these. It ranks the variables
of the *original* file by what they give away; they warn that it says nothing of a masked one. Added to the source: the
sum over the values, which is the probability of being identified by any of them.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from pydantic import Field

from sluice.ground.comparable_values import plain_values
from sluice.ground.errors import DataError
from sluice.ground.sentence import Sentence, percent
from sluice.ground.verdict import Finding
from sluice.risk.classes.microdata_rule import KeyedRecords, KeyedRule, PositiveShare
from sluice.risk.measurement import Measurement

_KNOWN = Sentence(
    "attribute_risk.known",
    "An intruder who sees a value of {name:word} knows whose it is with a chance of {chance:.3g}",
)


def attribute_risk(values: "pd.Series[Any]", persons: npt.ArrayLike | None = None) -> Measurement:
    """Ito's risk of one variable: the sum over its values, a probability from 0 to 1; higher is worse. Exact.

    values  : typed column, shape (m,), one value a record. A missing value tells nothing: it is neither a value nor in
              the denominator, and counts as not completed
    persons : shape (m,), whose each record is; None: every record is another person. The risk is then the number of
              different values over the number of records
    raises  : DataError on arrays of different lengths, or a person that is missing
    cost    : O(m log m)
    """
    plain = plain_values(values)
    owner = pd.Series(np.arange(len(plain)) if persons is None else np.asarray(persons))
    if len(owner) != len(plain):
        raise DataError(f"values and persons must have one length; got {len(plain)} and {len(owner)}")
    if owner.isna().any():
        raise DataError("every record needs its person; some are missing", field="persons")
    held = ~pd.isna(plain)
    completed = int(held.sum())
    groups = pd.DataFrame({"value": plain[held], "person": owner.to_numpy()[held]}).groupby("value")["person"]
    by_value = groups.size() / (max(completed, 1) * groups.nunique())  # Pr(idf, x): confidential
    return Measurement(float(by_value.sum()), len(plain), completed)


class AttributeRisk(KeyedRule):
    """No variable by itself identifies people: it has few values compared with the people who share them.

    It ranks variables by what they disclose, and is meant for the original: it says nothing about a perturbed file.
    """

    rule: Literal["attribute_risk"] = "attribute_risk"
    example: ClassVar[str] = "{rule: attribute_risk, at_most: 0.1}"
    largest: ClassVar[Mapping[str, float]] = {"at_most": 1.0}
    advice: ClassVar[str] = (
        "One variable nearly identifies people by itself: group its values, top-code its rare large ones, or remove "
        "it. The finding's scope names it."
    )
    at_most: PositiveShare = Field(description="chance, from 0 to 1, that the value of a record reveals whose it is")

    def judge(self, file: KeyedRecords) -> list[Finding]:
        found = []
        for name in file.keys:
            values = file.frame[name]
            if values.isna().all():  # tells what one value for everybody does
                values = pd.Series(0.0, index=values.index)
            measured = attribute_risk(values, file.people)
            says = _KNOWN(name=name, chance=measured.value)
            (limited,) = self.limited(file, name, measured.value, self.at_most, says)
            found.append(limited.model_copy(update={"completed": measured.completed}))
        return found

    def describe(self) -> str:
        return f"No variable alone tells whose record it is with a chance above {percent(self.at_most)}."
