"""A house that publishes tables of any records, and what a reader has of them."""

from pathlib import Path
from typing import Any

import pandas as pd

from tests.flows.tables_house import TablesHouse
from tests.reader.generate import Rows
from tests.reader.judge import Rules, Truth
from tests.reader.published import Release, read_release


class ReaderHouse(TablesHouse):
    """The release of one table, or of linked ones, with as little in its documents as there must be.

    records : the column 'record' is their key; 'firm' and 'value' are a magnitude, else records are counted
    rows    : the hierarchy of each dimension; None for a total over its categories
    tables  : the dimensions of each; one of all when not given
    """

    def __init__(
        self,
        root: Path,
        records: pd.DataFrame,
        rows: dict[str, Rows | None],
        rules: Rules,
        *,
        tables: list[list[str]] | None = None,
        coalition: int = 1,
        protection: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(root)
        self.data = records.assign(record=range(len(records)))
        self.hierarchies = {name: dict(tree) for name, tree in rows.items() if tree}
        firms = "value" in records
        self.contract["record_key"] = ["record"]
        self.contract["variables"] = [
            {"name": "record", "kind": "integer", "role": "identifier"},
            *({"name": name, "kind": "nominal", "role": "other"} for name in rows),
            *([{"name": "firm", "kind": "text", "role": "contributor"}] if "firm" in records else []),
            *([{"name": "value", "kind": "continuous", "role": "sensitive", "minimum": 0}] if firms else []),
        ]
        for variable in self.contract["variables"]:
            if rows.get(variable["name"], 1) is None:
                variable["categories"] = sorted(records[variable["name"]].unique())
        self.policy["rules"] = [dict(rule) for rule in rules]
        self.policy["table_attackers"] = {"coalition": coalition}
        self.definition["dimensions"] = [
            {"variable": name} | ({"hierarchy": f"{name}.csv"} if tree else {}) for name, tree in rows.items()
        ]
        self.definition["measure"] = ({"variable": "value", "decimals": 0} if firms else {}) | (
            {"contributor": "firm"} if "firm" in records else {}
        )
        self.definition["tables"] = [
            {"name": f"table-{number}", "dimensions": names} for number, names in enumerate(tables or [list(rows)])
        ]
        if protection:
            self.definition["protection"] = protection
        self.write()

    def published(self) -> tuple[Release, Truth]:
        """Publish, and read what a reader has; and the truth behind it."""
        self.release_approved()
        release = read_release(self.folder, self.file)
        measure = self.definition["measure"]
        return release, Truth(
            self.data,
            release.published.hierarchies,
            release.policy["rules"],
            measure.get("variable"),
            measure.get("contributor"),
        )
