"""Methods that leave nearly all values as they were: kept categories, tiny bases, high tops, nearly everybody drawn.

Source: Torra (2013), "Sampling" and "Rounding"; Gouweleeuw, Kooiman, Willenborg and de Wolf (1998), PRAM.
"""

from functools import partial

import numpy as np

from sluice.ground.variables import Role
from sluice.utility.comparison import Comparison
from tests.red_team.attacks import most_equal
from tests.red_team.case import Case
from tests.red_team.files import CENSUS, adult, census, masked_by, with_roles

CATEGORIES = (
    "workclass", "education", "marital_status", "occupation", "relationship", "race", "sex", "native_country",
)  # fmt: skip
_KEYS, _BESIDE = ("age", "hours_per_week"), ("education", "occupation", "relationship")
_TORN_FIRST = ("POTHVAL",)


def categories_kept(**how: object) -> Comparison:
    """Numbers as they are, every category kept with a high probability."""
    return masked_by(adult(800), [{"method": "pram", "columns": list(CATEGORIES), **how}])


def amounts(step: dict[str, object]) -> Comparison:
    columns = {} if step["method"] == "sampling" else {"columns": list(CENSUS)}
    people = 1_080 if step["method"] == "top_bottom_coding" else 600  # few reach a top of one in a hundred
    return masked_by(census(people), [step | columns])


def imputed(share: float, torn: int) -> Comparison:
    """A share of the values of some variables is imputed, and the other variables are torn off the records."""
    # First a part of the total income, which the others would add up to.
    others = [*_TORN_FIRST, *(name for name in CENSUS if name not in _TORN_FIRST)][:torn]
    kept = [name for name in CENSUS if name not in others]
    imputation = {"method": "multiple_imputation", "columns": kept, "given": [], "share": share}
    return masked_by(census(600), [imputation, {"method": "permutation", "columns": others, "jointly": False}])


def within(base: float, files: Comparison) -> float:
    """Whose own record is alone within a base of them in all variables, ties shared."""
    known = files.original[list(CENSUS)].to_numpy(float)
    released = files.masked[list(CENSUS)].to_numpy(float)
    fits = (np.abs(known[:, None, :] - released[None, :, :]) < base).all(axis=2)
    return float((fits.diagonal() / np.maximum(fits.sum(axis=1), 1)).mean())


def keys_in_crowds() -> Comparison:
    """Keys in groups of ten, each of whom alone is nobody, beside categories that nothing changed."""
    frame, variables = adult(1_000)
    roles = {name: Role.QUASI_IDENTIFIER if name in _KEYS else Role.OTHER for name in (*_KEYS, *_BESIDE)}
    data = with_roles((frame[list(roles)], {name: variables[name] for name in roles}), roles)
    return masked_by(data, [{"method": "microaggregation", "columns": list(_KEYS), "k": 10}])


def alone_in_the_crowd(files: Comparison) -> float:
    """Whose categories nobody else has among those who show the same keys."""
    return float((~files.masked.duplicated(keep=False)).mean())


LINKAGE = ("learned_linkage", "transparency", "lone_copies", "exact_copies", "near_copies")
LEARNED = ("transparency", "learned_linkage")

CASES = (
    Case(
        "keys of Adult in crowds of ten, categories as they were", keys_in_crowds, alone_in_the_crowd, 0.5,
        rules=LEARNED,
    ),
    *(
        Case(
            f"PRAM of Adult, {' '.join(f'{key} {value}' for key, value in how.items())}",
            partial(categories_kept, **how), most_equal, 0.5, rules=LEARNED,
            more="spread" not in how,
        )
        for how in ({"retention": 0.95}, {"retention": 0.9, "spread": "proportional"})
    ),
    *(
        Case(
            f"random rounding of Census to {base}",
            partial(amounts, {"method": "random_rounding", "base": base}), partial(within, base), 0.5,
            more=base == 10,
        )
        for base in (10, 2_000)
    ),
    *(
        Case(
            f"a sample of Census, {fraction:.0%}",
            partial(amounts, {"method": "sampling", "fraction": fraction}), most_equal, 0.9, rules=LINKAGE,
        )
        for fraction in (0.99, 0.5)
    ),
    *(
        Case(
            f"top coding of Census at the {quantile:.0%} quantile",
            partial(amounts, {"method": "top_bottom_coding", "top": {"quantile": quantile}}), most_equal, 0.9,
            rules=LINKAGE,
        )
        for quantile in (0.99, 0.7)
    ),
    *(
        Case(
            f"imputation of a share of {share} of Census, {torn} variables torn off",
            partial(imputed, share, torn), most_equal, 0.5, chance=0.02, rules=LEARNED,
            more=torn == 6,
        )
        for share, torn in ((0.52, 3), (0.4, 6))
    ),
)  # fmt: skip
