"""The worst finding decides, and the dossier says what an approval would be bound to."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from policies.acts import digest_of_words
from sluice.ground.verdict import Finding, Verdict
from tasks.decide import decide
from tasks.mask import mask
from tasks.release.product import AnyRelease
from tasks.release.records.judgement import Evaluation
from tests.flows.house import House
from tests.flows.tables_house import TablesHouse

Bring = Callable[[House], AnyRelease]

FINE = Finding(rule="k_anonymity", verdict=Verdict.PASS, says="Fine.")
UNSAFE = Finding(rule="l_diversity", verdict=Verdict.FAIL, says="Unsafe.", scope="income")


@pytest.mark.parametrize("verdict", [Verdict.REVIEW, Verdict.FAIL, Verdict.UNKNOWN])
def test_the_worst_finding_decides_wherever_it_was_found(house: House, validated: Bring, verdict: Verdict) -> None:
    release = validated(house)
    worst = Finding(rule="suda", verdict=verdict, says="Not good.")
    assert decide(release, [FINE]).verdict is Verdict.PASS
    assert decide(release, [FINE, worst]).verdict is verdict
    assert decide(release, [FINE], mask(release), Evaluation((worst,), (), ())).verdict is verdict


def test_no_finding_at_all_is_unknown(house: House, validated: Bring) -> None:
    assert decide(validated(house), []).verdict is Verdict.UNKNOWN


def test_a_waiver_excuses_what_it_names_and_stays_visible(house: House, validated: Bring) -> None:
    today = datetime.now(UTC).date()
    waiver = {"rule": "l_diversity", "scope": "income", "owner": "mina", "reason": "agreed with those asked, file 7"}
    house.policy["waivers"] = [waiver | {"granted": str(today), "expires": str(today + timedelta(days=5))}]
    dossier = decide(validated(house), [FINE, UNSAFE])
    assert dossier.verdict is Verdict.PASS
    assert [finding.waiver is not None for finding in dossier.findings][:2] == [False, True]


def test_the_hashes_are_of_the_documents_and_of_what_was_made(house: House, validated: Bring) -> None:
    release = validated(house)
    masked, named = mask(release), release.product.hashes
    unmade, made = decide(release, [UNSAFE]), decide(release, [FINE], masked)
    for dossier in (unmade, made):
        assert dossier.hashes["plan"] == digest_of_words(named["plan"], dossier.salt) != named["plan"]
    assert unmade.hashes.keys() == named.keys()
    assert made.hashes == {**named, "plan": made.hashes["plan"], **masked.hashes}
    assert made.view.records_released == masked.rows


def test_each_product_has_its_own_view(house: House, validated: Bring, tables_house: TablesHouse) -> None:
    assert decide(validated(tables_house), [FINE]).view.kind == "tables"
    house.write()
    assert decide(validated(House(house.root.with_name("other"))), [FINE]).view.kind == "records"
