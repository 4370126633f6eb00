"""The outbox: all of it or nothing is noted, what was sent stays sent, and nothing is lost."""

from pathlib import Path

from sluice.ground.errors import SluiceError
from sluice.notices.outbox import Outbox
from tests.golden import golden
from tests.notices.test_mail import NOTICE

OTHER = NOTICE.model_copy(update={"id": "8-published"})


def test_what_is_noted_stays_until_it_is_settled(tmp_path: Path) -> None:
    file = tmp_path / "notices" / "outbox.db"
    Outbox(file).put([(NOTICE, "mail:amara"), (NOTICE, "webhook"), (OTHER, "mail:amara")], seen=8)
    outbox = Outbox(file)  # another process
    assert outbox.seen == 8
    first, second, third = outbox.due()
    assert [(each.notice.id, each.channel) for each in (first, second, third)] == [
        (NOTICE.id, "mail:amara"), (NOTICE.id, "webhook"), (OTHER.id, "mail:amara"),
    ]  # fmt: skip
    outbox.settle(first, "sent")
    outbox.failed(second, "the webhook answers 500")
    outbox.settle(third, "refused")
    [due] = Outbox(file).due()
    assert (due.channel, due.tries, due.fault) == ("webhook", 1, "the webhook answers 500")
    assert outbox.refused() == [(OTHER.id, "mail:amara")]


def test_what_is_noted_again_is_not_sent_again(tmp_path: Path) -> None:
    outbox = Outbox(tmp_path / "outbox.db")
    outbox.put([(NOTICE, "webhook")])
    outbox.settle(outbox.due()[0], "sent")
    outbox.put([(NOTICE, "webhook")])
    assert outbox.due() == []


def test_others_cannot_read_it(tmp_path: Path) -> None:
    Outbox(tmp_path / "notices" / "outbox.db").put([(NOTICE, "webhook")])
    assert (tmp_path / "notices" / "outbox.db").stat().st_mode & 0o077 == 0
    assert (tmp_path / "notices").stat().st_mode & 0o077 == 0


def test_a_file_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "outbox.db").write_bytes(b"no database" * 100)
    golden.refused(SluiceError, Outbox, tmp_path / "outbox.db")
