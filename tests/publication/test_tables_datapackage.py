"""The Data Package descriptor of tables."""

import json
from collections.abc import Sequence
from typing import Any

from sluice.publication.published_table import published_table
from sluice.publication.published_table_files import to_csv
from sluice.publication.tables_datapackage import tables_datapackage
from tests.publication.small_table import EVERYTHING, file_of, small


class TestDatapackage:
    def build(self, **options: Any) -> tuple[dict[str, Any], bytes]:
        cells, status = small(decimals=1)
        tables = []
        for name, dimensions in (("all", ["area", "kind"]), ("kinds", ["kind"])):
            table = published_table(cells, status, name, dimensions, **{**EVERYTHING, **options})
            tables.append((table, [file_of(f"{name}.csv", to_csv(table), table), file_of(f"{name}.sdmx", b"", None)]))
        package = tables_datapackage("T 1", "T", "d", tables, "turnover", "EUR", ["It was."], ["A margin is not."])
        return json.loads(json.dumps(package)), to_csv(tables[0][0])

    def test_fields_are_the_columns_of_eachfile_of(self) -> None:
        package, content = self.build()
        assert [resource["path"] for resource in package["resources"]] == [
            "all.csv",
            "all.sdmx",
            "kinds.csv",
            "kinds.sdmx",
        ]
        first, exchanged, second, _ = package["resources"]
        assert [field["name"] for field in first["schema"]["fields"]] == content.decode().splitlines()[0].split(",")
        assert second["schema"]["fields"][0]["name"] == "kind"
        assert "schema" not in exchanged
        assert first["schema"]["missingValues"] == [""]
        assert package["sluice:notPublished"] == ["A margin is not."]

    def test_fields_are_explained(self) -> None:
        package, _ = self.build()
        fields = {field["name"]: field for field in package["resources"][0]["schema"]["fields"]}
        assert fields["area"]["sluice:hierarchy"] == [{"sum": "Total", "parts": ["01", "NA"]}]
        assert [category["value"] for category in fields["status"]["categories"]] == list(_words(False))
        assert (fields["value"]["unit"], fields["value"]["type"]) == ("EUR", "number")
        assert fields["value"]["sluice:maskedBy"] == ["It was."]
        assert "constraints" not in fields["value"]  # no minimum or maximum, which would tell of suppressed cells
        assert fields["contributors"]["type"] == "integer"

    def test_one_word_for_all_suppressed(self) -> None:
        package, _ = self.build(tell_primary=False)
        fields = {field["name"]: field for field in package["resources"][0]["schema"]["fields"]}
        assert [category["value"] for category in fields["status"]["categories"]] == list(_words(True))


def _words(one: bool) -> Sequence[str]:
    return ("published", "suppressed") if one else ("published", "primary", "secondary")
