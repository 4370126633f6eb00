"""Mail is handed to a real server on the loopback, encrypted elsewhere, and no name or text becomes a header."""

import base64
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from pydantic import TypeAdapter, ValidationError

from sluice.notices.mail import Address, MailServer, message
from sluice.notices.notice import Notice, NoticeDelayedError, NoticeRefusedError
from tests.golden import golden
from tests.notices.servers import mail_server

pytestmark = pytest.mark.chain

NOTICE = Notice(
    id="7-blocked", at="2026-11-23T20:00:00+00:00", about="fair-1", event="blocked",
    says="fair-1 does not meet its policy.", do="sluice review fair-1", link="https://reports.example/fair-1.html",
)  # fmt: skip
FROM, TO = "sluice@agency.example", "amara@agency.example"


def test_a_server_takes_the_message() -> None:
    with mail_server() as box:
        MailServer.parse(f"smtp://127.0.0.1:{box.port}").send(NOTICE, FROM, TO)
        MailServer.parse(f"smtp://127.0.0.1:{box.port}").send(NOTICE, FROM, TO)
    [first, again] = box.to(TO)
    assert (first["Subject"], first["From"], first["To"]) == ("[Sluice] fair-1: blocked", FROM, TO)
    assert first["Message-ID"] == again["Message-ID"], "a mailbox must know the second one for the same"
    assert first["Auto-Submitted"] == "auto-generated"
    text = first.get_content()  # type: ignore[attr-defined]
    assert all(part in text for part in (NOTICE.says, NOTICE.do, NOTICE.link))


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A key and a certificate of 'localhost' in one PEM file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name, now = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")]), datetime.now(UTC)
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(1).not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file = tmp_path_factory.mktemp("tls") / "server.pem"
    file.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return file


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """'localhost' as if it were another machine."""
    monkeypatch.setattr("sluice.notices.mail.LOOPBACK", ())


def serving(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


def test_another_machine_gets_it_encrypted_and_the_password_with_it(
    certificate: Path, elsewhere: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with mail_server(serving(certificate)) as box:
        MailServer.parse(f"smtp://sluice@localhost:{box.port}", "hunter2").send(NOTICE, FROM, TO)
    assert box.encrypted == [True]
    assert [base64.b64decode(login) for login in box.logins] == [b"\0sluice\0hunter2"]


@pytest.mark.parametrize("offers_tls", [True, False], ids=["a certificate that nobody trusts", "no TLS"])
def test_nothing_goes_out_to_a_server_that_cannot_be_trusted(
    certificate: Path, elsewhere: None, offers_tls: bool
) -> None:
    with mail_server(serving(certificate) if offers_tls else None) as box, pytest.raises(NoticeDelayedError):
        MailServer.parse(f"smtp://sluice@localhost:{box.port}", "hunter2").send(NOTICE, FROM, TO)
    assert (box.taken, box.logins) == ([], [])


@pytest.mark.parametrize(("code", "error"), [(550, NoticeRefusedError), (450, NoticeDelayedError)])
def test_a_recipient_whom_the_server_refuses(code: int, error: type[Exception]) -> None:
    with mail_server() as box:
        box.recipients[TO] = code
        golden.refused(error, MailServer.parse(f"smtp://127.0.0.1:{box.port}").send, NOTICE, FROM, TO)
    assert box.taken == []


def test_a_server_that_is_down_is_asked_later() -> None:
    with mail_server() as box:
        box.closed = True
        server = MailServer.parse(f"smtp://127.0.0.1:{box.port}")
        with pytest.raises(NoticeDelayedError, match="421"):
            server.send(NOTICE, FROM, TO)
    golden.refused(NoticeDelayedError, server.send, NOTICE, FROM, TO)


@pytest.mark.parametrize("wrong", [{"pause": 0.05}, {"endless": "EHLO"}, {"endless": "RCPT"}])
@pytest.mark.parametrize("encrypted", [False, True], ids=["in the open", "by STARTTLS"])
def test_a_server_that_never_comes_to_an_end_is_left(
    wrong: dict[str, Any], encrypted: bool, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of its bytes comes in time, so no wait for one of them ever ends; whoever waits for it holds a lock."""
    monkeypatch.setattr("sluice.notices.mail._IN_ALL", 0.5)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    if encrypted:
        monkeypatch.setattr("sluice.notices.mail.LOOPBACK", ())
    with mail_server(serving(certificate) if encrypted else None) as box:
        vars(box).update(wrong)
        golden.refused(NoticeDelayedError, MailServer.parse(f"smtp://localhost:{box.port}").send, NOTICE, FROM, TO)
        assert box.taken == []


def test_a_server_with_tls_from_the_first_byte(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with mail_server(serving(certificate), wrapped=True) as box:
        MailServer.parse(f"smtps://localhost:{box.port}").send(NOTICE, FROM, TO)
        assert len(box.to(TO)) == 1
        monkeypatch.setattr("sluice.notices.mail._IN_ALL", 0.5)
        box.pause = 0.05
        golden.refused(NoticeDelayedError, MailServer.parse(f"smtps://localhost:{box.port}").send, NOTICE, FROM, TO)


def test_no_text_becomes_a_header() -> None:
    evil = "fair-1\r\nBcc: mallory@evil.example\r\n\r\nClick here"
    made = message(NOTICE.model_copy(update={"about": Notice(**NOTICE.model_dump() | {"about": evil}).about}), FROM, TO)
    assert made["Bcc"] is None
    assert len(made.get_all("Subject", [])) == 1
    assert "\n" not in made["Subject"]


@pytest.mark.parametrize(
    "address",
    ["amara", "amara@", "Amara <amara@agency.example>", "a@b.example, m@evil.example",
     "a@b.example\r\nBcc: m@e.example", "a@b.example\n", "ämara@agency.example", "a b@c.example"],
)  # fmt: skip
def test_what_is_no_single_plain_address_is_refused(address: str) -> None:
    golden.refused(ValidationError, TypeAdapter(Address).validate_python, address)


@pytest.mark.parametrize(
    "url", ["mail.agency.example", "http://mail.agency.example", "smtp://", "smtp://sluice:hunter2@mail.agency.example"]
)
def test_what_is_no_mail_server_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="must") as refused:
        MailServer.parse(url)
    assert "hunter2" not in str(refused.value)


def test_the_password_is_not_shown() -> None:
    assert "hunter2" not in repr(MailServer.parse("smtps://sluice@mail.agency.example", "hunter2"))
