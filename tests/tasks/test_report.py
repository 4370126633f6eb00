"""The worst finding decides, and the page and the dossier say what an approval would be bound to."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from markupsafe import escape

from policies.acts import digest_of_words
from sluice.ground.verdict import Finding, Verdict
from tasks.record_steps import mask
from tasks.release.decisions.under_review import report_path
from tasks.release.product import AnyRelease
from tasks.release.records.record_findings import Evaluation
from tasks.report import report
from tests.flows.house import House
from tests.flows.tables_house import TablesHouse

Bring = Callable[[House], AnyRelease]

FINE = Finding(rule="k_anonymity", verdict=Verdict.PASS, says="Fine.")
UNSAFE = Finding(rule="l_diversity", verdict=Verdict.FAIL, says="Unsafe.", scope="income")


@pytest.mark.parametrize("verdict", [Verdict.REVIEW, Verdict.FAIL, Verdict.UNKNOWN])
def test_the_worst_finding_decides_wherever_it_was_found(house: House, validated: Bring, verdict: Verdict) -> None:
    release = validated(house)
    worst = Finding(rule="suda", verdict=verdict, says="Not good.")
    assert report(release, [FINE]).dossier.verdict is Verdict.PASS
    assert report(release, [FINE, worst]).dossier.verdict is verdict
    assert report(release, [FINE], mask(release), Evaluation((worst,), (), ())).dossier.verdict is verdict


def test_no_finding_at_all_is_unknown(house: House, validated: Bring) -> None:
    assert report(validated(house), []).dossier.verdict is Verdict.UNKNOWN


def test_a_waiver_excuses_what_it_names_and_stays_visible(house: House, validated: Bring) -> None:
    today = datetime.now(UTC).date()
    waiver = {"rule": "l_diversity", "scope": "income", "owner": "mina", "reason": "agreed with those asked, file 7"}
    house.policy["waivers"] = [waiver | {"granted": str(today), "expires": str(today + timedelta(days=5))}]
    dossier = report(validated(house), [FINE, UNSAFE]).dossier
    assert dossier.verdict is Verdict.PASS
    assert [finding.waiver is not None for finding in dossier.findings][:2] == [False, True]


def test_the_hashes_are_of_the_documents_and_of_what_was_made(house: House, validated: Bring) -> None:
    release = validated(house)
    masked, named = mask(release), release.product.hashes
    unmade, made = report(release, [UNSAFE]).dossier, report(release, [FINE], masked).dossier
    for dossier in (unmade, made):
        assert dossier.hashes["plan"] == digest_of_words(named["plan"], dossier.salt) != named["plan"]
    assert unmade.hashes.keys() == named.keys()
    assert made.hashes == {**named, "plan": made.hashes["plan"], **masked.hashes}
    assert made.view.records_released == masked.rows


def test_what_was_not_read_as_it_stands_is_in_dossier_and_page(house: House, validated: Bring) -> None:
    assert report(validated(house), [FINE]).dossier.reading == ()
    house.data["town"] = house.data["town"].where(house.data.index > 1, house.data["town"] + " ")
    release = validated(house)
    dossier = report(release, [FINE]).dossier
    (remark,) = dossier.reading
    assert (remark.code, remark.column, remark.count) == ("reading.blanks", "town", 2)
    assert escape(f"{remark.says}.") in report_path(release).read_text(encoding="utf-8")


def test_each_product_has_its_own_view(house: House, validated: Bring, tables_house: TablesHouse) -> None:
    assert report(validated(tables_house), [FINE]).dossier.view.kind == "tables"
    house.write()
    assert report(validated(House(house.root.with_name("other"))), [FINE]).dossier.view.kind == "records"


def test_page_and_dossier_are_kept_as_they_are_and_nothing_is_recorded(house: House, validated: Bring) -> None:
    release = validated(house)
    before = release.entries()
    reported = report(release, [FINE], mask(release))
    assert [entry.event for entry in release.entries()] == [*(entry.event for entry in before), "masked"]
    kept = release.vault.verify(reported.kept["report"], ".html")
    assert report_path(release).read_bytes() == kept.read_bytes()
    assert report_path(release).stat().st_mode & 0o077 == 0
    content = release.vault.verify(reported.kept["dossier"], ".json").read_bytes()
    assert content == reported.dossier.model_dump_json().encode()
