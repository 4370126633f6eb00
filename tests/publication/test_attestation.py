"""Time stamps: a stamp of this document by this authority is believed, and nothing else is."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sluice.ground.errors import DataError, DocumentError, SluiceError
from sluice.publication.attestation import read_certificates, request_stamp, stamped_at
from tests.golden import golden
from tests.publication.timestamp_authority import Authority

pytestmark = pytest.mark.servers

CONTENT = b'{"release": "fair-0123456789ab"}'


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority") / "keys")


def test_a_document_is_stamped_and_the_stamp_tells_when(authority: Authority, tmp_path: Path) -> None:
    certificates = read_certificates(authority.certificates)
    with authority.serving() as url:
        stamp = request_stamp(CONTENT, url, certificates)
    assert abs(stamped_at(stamp, CONTENT, certificates) - datetime.now(UTC)) < timedelta(minutes=1)
    document, response = tmp_path / "manifest.json", tmp_path / "manifest.tsr"
    document.write_bytes(CONTENT)
    response.write_bytes(stamp)
    assert authority.verifies(response, document)


def test_a_stamp_is_of_one_document_and_of_one_authority(authority: Authority, tmp_path: Path) -> None:
    certificates = read_certificates(authority.certificates)
    with authority.serving() as url:
        stamp = request_stamp(CONTENT, url, certificates)
    other = read_certificates(Authority(tmp_path / "other").certificates)
    for response, content, known in (
        (stamp, CONTENT + b" ", certificates),
        (stamp, CONTENT, other),
        (stamp[:-1], CONTENT, certificates),
        (stamp[:-40] + bytes(40), CONTENT, certificates),
        (b"", CONTENT, certificates),
        (CONTENT, CONTENT, certificates),
    ):
        with golden.raises(DataError):
            stamped_at(response, content, known)


def test_an_answer_to_another_request_or_none_at_all_is_refused(authority: Authority) -> None:
    certificates = read_certificates(authority.certificates)
    with authority.serving() as url:
        stamp = request_stamp(CONTENT, url, certificates)
        authority.answers = [stamp]  # of the same document, and of another request
        with golden.raises(SluiceError):
            request_stamp(CONTENT, url, certificates)
        authority.answers = [b"", b"not a response", b"0" * (2 << 20)]
        with golden.raises(SluiceError):
            request_stamp(CONTENT, url, certificates)
        for _ in range(2):
            with golden.raises(SluiceError):
                request_stamp(CONTENT, url, certificates)
    with golden.raises(SluiceError):
        request_stamp(CONTENT, url, certificates)


def test_certificates_that_are_none_are_refused(tmp_path: Path) -> None:
    with golden.raises(DocumentError):
        read_certificates(tmp_path / "absent.pem")
    (tmp_path / "wrong.pem").write_text("no certificate")
    with golden.raises(DocumentError):
        read_certificates(tmp_path / "wrong.pem")
