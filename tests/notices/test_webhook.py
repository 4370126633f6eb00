"""A webhook gets what was signed, once for each id; it is trusted with nothing else."""

import hashlib
import hmac
import json
import socket
import threading
import time

import pytest

from sluice.notices import webhook
from sluice.notices.mail import is_safe
from sluice.notices.notice import NoticeDelayedError, NoticeRefusedError
from sluice.notices.webhook import Webhook
from tests.golden import golden
from tests.notices.servers import web_server
from tests.notices.test_mail import NOTICE

pytestmark = pytest.mark.chain

SECRET = "a secret of two machines"


def test_the_receiver_can_tell_from_whom_it_is_and_when() -> None:
    with web_server() as hook:
        Webhook(hook.url, SECRET).send(NOTICE, now=1_700_000_000)
    [(headers, body)] = hook.taken
    signed = hmac.new(SECRET.encode(), b"1700000000." + body, hashlib.sha256).hexdigest()
    assert headers["Sluice-Signature"] == f"t=1700000000,v1={signed}"
    assert (headers["Sluice-Notice"], headers["Content-Type"]) == (NOTICE.id, "application/json")
    assert json.loads(body) == NOTICE.model_dump(exclude={"while_state"})


@pytest.mark.parametrize(
    ("code", "error"),
    [(500, NoticeDelayedError), (429, NoticeDelayedError), (302, NoticeDelayedError), (410, NoticeRefusedError)],
)
def test_what_the_receiver_does_not_take(code: int, error: type[Exception]) -> None:
    with web_server() as hook:
        hook.code = code
        golden.refused(error, Webhook(hook.url, SECRET).send, NOTICE)
    assert len(hook.taken) == 1, "a redirect is not followed: the address is the operator's to choose"
    golden.refused(NoticeDelayedError, Webhook(hook.url, SECRET).send, NOTICE)


def test_what_the_receiver_goes_on_to_say_is_not_waited_for() -> None:
    """It could say more than the memory holds, or a byte every nine seconds, for ever."""
    with web_server() as hook:
        hook.code, hook.promised = 200, 1_000_000
        Webhook(hook.url, SECRET).send(NOTICE)
    assert len(hook.taken) == 1


def test_a_receiver_that_answers_a_byte_at_a_time_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sluice.notices.webhook._WAIT", 0.5)
    with web_server() as hook:
        hook.pause = 0.05
        golden.refused(NoticeDelayedError, Webhook(hook.url, SECRET).send, NOTICE)


def test_a_name_service_that_hangs_holds_neither_the_delivery_nor_the_end_of_the_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked, end = threading.Event(), threading.Event()

    def hang(*_: object, **__: object) -> None:
        asked.set()
        end.wait(30)

    monkeypatch.setattr(webhook, "_WAIT", 0.2)
    monkeypatch.setattr(socket, "getaddrinfo", hang)
    begun = time.monotonic()
    try:
        with pytest.raises(NoticeDelayedError):
            Webhook("https://hooks.internal/", "a secret of two").send(NOTICE)
        assert asked.is_set()
        assert time.monotonic() - begun < 10
        assert all(thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread())
    finally:
        end.set()


def test_only_this_machine_is_posted_to_in_the_open() -> None:
    safe = ("https://hooks.example/x", "http://127.0.0.1:8000/", "http://localhost/")
    unsafe = ("http://hooks.example/", "file:///etc/passwd", "hooks.example", "https://")
    assert [url for url in (*safe, *unsafe) if is_safe(url)] == [*safe]


def test_the_secret_is_not_shown() -> None:
    assert SECRET not in repr(Webhook("https://hooks.example/", SECRET))
