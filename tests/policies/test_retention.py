"""Retention: nobody shortens what was promised, and whatever no rule names is kept for ever."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml
from pydantic import ValidationError

from policies.policy import load_policy
from policies.retention import LEAST_DAYS, KeptDays, Retention, kept_until
from sluice.documents.document_reading import document_bytes
from sluice.ground.errors import DocumentError
from tests.flows.house import policy
from tests.golden import golden

ENDED = datetime(2026, 1, 1, tzinfo=UTC)
LONG, SHORT = (Retention(published=KeptDays(seeds=days)) for days in (365, 30))


def until(judged: Retention | None, now: Retention | None, since: datetime | None = ENDED) -> datetime | None:
    return kept_until("seeds", True, ENDED, judged, now, since)


def test_a_part_is_kept_for_as_many_days_as_its_rule_says() -> None:
    assert until(SHORT, SHORT) == ENDED + timedelta(days=30)
    assert kept_until("staged_data", True, ENDED, SHORT, SHORT, ENDED) is None
    assert kept_until("seeds", False, ENDED, SHORT, SHORT, ENDED) is None


def test_a_later_policy_lengthens_and_does_not_shorten() -> None:
    """Two people who want evidence gone adopt the shortest rule there is."""
    assert until(LONG, SHORT) == ENDED + timedelta(days=365)
    assert until(SHORT, LONG) == ENDED + timedelta(days=365)
    assert until(SHORT, Retention()) is None, "a policy in force without a rule stops deletion"
    assert until(SHORT, None) is None
    assert until(SHORT, None, since=None) == ENDED + timedelta(days=30), "none of that name is in force any more"


def test_a_rule_that_came_later_gives_notice_of_all_its_days() -> None:
    since = ENDED + timedelta(days=4000)
    assert until(None, SHORT, since) == since + timedelta(days=30)
    assert until(SHORT, SHORT, since) == since + timedelta(days=30)
    assert until(None, None, None) is None


def test_nobody_can_adopt_a_rule_that_deletes_at_once(tmp_path: Path) -> None:
    with pytest.raises(ValidationError):
        KeptDays(seeds=LEAST_DAYS - 1)
    file = tmp_path / "policy.yaml"
    file.write_text(yaml.safe_dump(policy() | {"retention": {"published": {"staged_data": 0}}}))
    golden.refused(DocumentError, load_policy, file)


def test_a_policy_that_says_nothing_of_it_is_the_one_that_was_adopted(tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(yaml.safe_dump(policy()))
    assert b"retention" not in document_bytes(load_policy(file))
