"""The dossier: one view, of records or of tables, read back as what it was."""

import json

import pytest
from pydantic import ValidationError

from sluice.report.dossier import Dossier, RecordsView, TablesView
from tests.golden import golden
from tests.report.pages import dossier, finding, full_records, full_tables


@pytest.mark.parametrize(("made", "kind"), [(full_records, RecordsView), (full_tables, TablesView)])
def test_a_dossier_is_read_back_with_its_view(made: object, kind: type) -> None:
    assert callable(made)
    whole = made()
    again = Dossier.model_validate_json(whole.model_dump_json())
    assert again == whole
    assert type(again.view) is kind


@pytest.mark.parametrize("changes", [{"kind": "tables"}, {"kind": "maps"}, {"measure": "turnover"}])
def test_a_view_of_another_kind_is_refused(changes: dict[str, str]) -> None:
    fields = json.loads(dossier(finding()).model_dump_json())
    fields["view"] |= changes
    with golden.raises(ValidationError):
        Dossier.model_validate(fields)


def test_records_are_released_or_added_up() -> None:
    golden(RecordsView(records_holdout=1200, records_released=9).use_of_records)
    tables = TablesView(measure="turnover")
    assert (tables.use_of_records, tables.records_released) == ("added up", 0)
