"""Real facilities as confidential contributors: greenhouse gas emissions by industry and place, as linked tables.

6,554 facilities that reported to the US EPA for 2019, and their parent companies. (EPA publishes them one by one; here
they play contributors.) Two linked tables: industry (2 to 6 digits) by state, and industry (2 and 3 digits) by county
within state. The parent with the largest share of a facility owns it, the first in the alphabet of equal ones; a parent
without a percentage counts as 0 %. Tonnes are rounded to whole ones. Counties are told by their names, in capitals and
without what kind of county they are; a missing one is a county of its own in each state.
"""

import re
from functools import lru_cache
from pathlib import Path
from time import perf_counter

import pandas as pd

from sluice.tabular.model.cells import Cells
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.model.measure import Measure
from sluice.tabular.model.numbered_records import records_of
from sluice.tabular.rules.dominance import Dominance
from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from sluice.tabular.rules.p_percent import PPercent
from sluice.tabular.rules.sensitivity import requirements_of
from tests.reference_data import REFERENCE_DATA

TABLES = (("industry", "region:1"), ("industry:2", "region"))
RULES = (MinimumFrequency(n=3), PPercent(p=10), Dominance(n=1, k=75), Dominance(n=2, k=85))

_KIND = re.compile(r" (COUNTY|PARISH|BOROUGH|CENSUS AREA|MUNICIPALITY|MUNICIPIO|CITY AND BOROUGH)$")


@lru_cache
def facilities() -> pd.DataFrame:
    """One row a facility: id, industry (6 digits), region (state and county), tonnes, parent. All text."""
    folder = REFERENCE_DATA / "ghgrp_2019"
    given = pd.read_csv(folder / "direct_emitters_2019.csv.gz", dtype=str, keep_default_na=False)
    given = given.rename(columns=lambda name: name.strip())
    state = given["State"].str.strip().str.upper()
    return pd.DataFrame(
        {
            "id": given["Facility Id"].str.strip(),
            "industry": given["Primary NAICS Code"].str.strip(),
            "region": state + " " + given["County"].map(_county),
            "tonnes": given["Total reported direct emissions"].str.replace(",", "").str.strip(),
            "parent": given["Facility Id"].str.strip().map(_owners(folder)),
        }
    )


def dimensions() -> list[Dimension]:
    """industry: total, 2, 3, 4, 5, 6 digits; region: total, state, county."""
    found = facilities()
    industry = {("Total", "")} | {
        (code[:digits], code[: digits - 1] if digits > 2 else "Total")
        for code in found["industry"].unique()
        for digits in range(2, len(code) + 1)
    }
    region = {("Total", "")} | {
        row for code in found["region"].unique() for row in ((code[:2], "Total"), (code, code[:2]))
    }
    return [Dimension.of("industry", sorted(industry)), Dimension.of("region", sorted(region))]


def cells(by_parent: bool = True) -> Cells:
    """The cells of both tables, by parent company or by facility."""
    made = dimensions()
    measure = Measure("tonnes", "id", "parent" if by_parent else None, decimals=0, duplicates="refuse")
    return records_of(facilities(), made, measure).cells(made, tables=TABLES)


def _county(written: str) -> str:
    name = " ".join(written.upper().replace(".", "").split())
    return _KIND.sub("", name) or "(no county)"


def _owners(folder: Path) -> dict[str, str]:
    """facility -> the parent with the largest share."""
    given = pd.read_csv(folder / "2019_parent_company.csv.gz", dtype=str, keep_default_na=False, encoding="utf-8-sig")
    given = given.rename(columns=lambda name: name.strip())
    shares = pd.DataFrame(
        {
            "id": given["GHGRP FACILITY ID"].str.strip(),
            "parent": given["PARENT COMPANY NAME"].str.upper().str.split().str.join(" "),
            "percent": pd.to_numeric(given["PARENT CO. PERCENT OWNERSHIP"], errors="coerce").fillna(0),
        }
    )
    ordered = shares.sort_values(["percent", "parent"], ascending=[False, True])
    return dict(ordered.drop_duplicates("id").set_index("id")["parent"])


def main(quick: bool = False) -> None:
    if not (REFERENCE_DATA / "ghgrp_2019").is_dir():
        print(f"{REFERENCE_DATA / 'ghgrp_2019'} is not there")
        return
    found = facilities()
    print(
        f"{len(found):,} facilities of {found['parent'].nunique():,} parents in {found['region'].nunique():,} counties"
    )
    for by_parent in (False, True):
        begun = perf_counter()
        made = cells(by_parent)
        taken = perf_counter() - begun
        requirements = requirements_of(RULES, made.contributions)
        counts = ", ".join(f"{int(which.sum()):,} by {rule}" for rule, which in requirements.by_rule.items())
        print(
            f"by {'parent' if by_parent else 'facility'}: {len(made):,} cells, {made.equations.shape[0]:,} sums, "
            f"{int(requirements.sensitive.sum()):,} sensitive ({counts}); {taken:.2f} s"
        )


if __name__ == "__main__":
    main()
