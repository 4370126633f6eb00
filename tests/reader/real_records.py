"""Records of the public data sets, as tables are made of them."""

import pandas as pd

from tests.reader.generate import Rows
from tests.reader.published import Hierarchy
from tests.reference_data import reference_path

Table = tuple[pd.DataFrame, dict[str, Rows | None]]


def adult(most: int | None = None) -> Table:
    """People by occupation, country of birth and sex, three dimensions without groups: sparse counts; 48,842 in all."""
    names = {6: "occupation", 13: "country", 9: "sex"}
    parts = [
        pd.read_csv(
            reference_path("adult", file),
            header=None,
            usecols=list(names),
            dtype=str,
            skipinitialspace=True,
            keep_default_na=False,
            comment="|",
        )
        for file in ("adult.data.gz", "adult.test.gz")
    ]
    people = pd.concat(parts, ignore_index=True).rename(columns=names).replace("?", "unknown")
    people = people[["occupation", "country", "sex"]].head(most or len(people))
    return people, {"occupation": None, "country": None, "sex": None}


def diabetes(most: int | None = None) -> Table:
    """Stays in hospital by age, specialty and readmission; patients have several: counts of records."""
    read = pd.read_csv(reference_path("diabetes130", "diabetic_data.csv.gz"), dtype=str, keep_default_na=False)
    stays = read.rename(columns={"medical_specialty": "specialty", "patient_nbr": "firm"}).head(most or len(read))
    stays = stays.assign(age=stays["age"].str.strip("[)"), specialty=stays["specialty"].replace("?", "unknown"))
    return stays[["age", "specialty", "race", "firm"]].replace("?", "unknown"), {
        "age": None,
        "specialty": None,
        "race": None,
    }


def ghgrp(states: list[str] | None = None) -> Table:
    """Emissions of facilities in tonnes by industry, of two and three digits, and state; of some states if wanted."""
    read = pd.read_csv(reference_path("ghgrp_2019", "direct_emitters_2019.csv.gz"), dtype=str, keep_default_na=False)
    value = pd.to_numeric(read["Total reported direct emissions"], errors="coerce").round()
    read = read.assign(value=value, industry="N" + read["Primary NAICS Code"].str[:3], firm="F" + read["Facility Id"])
    read = read[read["value"].notna() & (read["value"] >= 0)].rename(columns={"State": "state"})
    read = read[read["state"].isin(states or read["state"])]
    groups = sorted({code[:3] for code in read["industry"]})
    rows = [("Total", ""), *((group, "Total") for group in groups)]
    rows += [(code, code[:3]) for code in sorted(set(read["industry"]))]
    table = read[["industry", "state", "firm"]].assign(value=read["value"].astype("int64"))
    return table, {"industry": rows, "state": None}


def eia(states: list[str] | None = None) -> Table:
    """Revenue of electric utilities in 1996 by state and class of customers; of some states if wanted."""
    read = pd.read_csv(reference_path("casc", "eia.csv"), dtype=str, keep_default_na=False)
    read = read[(read["UTILITYID"] != "0") & read["STATE"].isin(states or read["STATE"])]  # 0 adjusts states
    classes = {f"{short}REVENUE": short for short in ("RES", "COM", "IND", "OTH")}
    long = read.rename(columns=classes).melt(["UTILITYID", "STATE"], list(classes.values()), "customers")
    long = long.assign(value=long["value"].astype("int64"))
    year = long.groupby(["UTILITYID", "STATE", "customers"], as_index=False)["value"].sum()
    year = year[year["value"] > 0].rename(columns={"STATE": "state", "UTILITYID": "firm"})
    return year[["state", "customers", "firm", "value"]], {"state": None, "customers": None}


def business(nace: str = "") -> Table:
    """Turnover of generated firms by industry, region and size; of one branch of the industries if wanted."""
    folder = reference_path("business_generated", "s1k")
    read = pd.read_csv(folder / "micro.csv.gz", dtype=str, keep_default_na=False)
    rows: dict[str, Rows | None] = {}
    for axis in ("nace", "region", "size"):
        tree = pd.read_csv(folder / f"hier_{axis}.csv", dtype=str, keep_default_na=False)
        rows[axis] = list(zip(tree["code"], tree["parent"], strict=True))
    of = Hierarchy.of("nace", rows["nace"] or [])
    read = read[[not nace or nace in of.above[code] for code in read["nace"]]]
    if nace:
        rows["nace"] = _branch(rows["nace"] or [], nace)
    table = read.rename(columns={"id": "firm"})[["nace", "region", "size", "firm"]]
    return table.assign(value=read["value"].astype("int64")), rows


def _branch(rows: Rows, top: str) -> Rows:
    """A group of a hierarchy with what is below it, as a hierarchy of its own."""
    kept, below = [(top, "")], {top}
    for code, parent in rows:
        if parent in below:
            kept.append((code, parent))
            below.add(code)
    return kept
