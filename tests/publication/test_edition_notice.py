"""Notices and pointers: in one form, which says that nobody signed it."""

import json
from typing import Any

import pytest

from sluice.ground.errors import DataError
from sluice.publication.catalogue_of_shelf import CurrentPointer, EditionNotice, read_notice, unsigned_bytes
from tests.golden import golden

NOTICE = EditionNotice(
    release="fair-1", state="superseded", by="fair-2", at="2026-01-01T00:00:00+00:00", current="../fair.current.json"
)


def test_what_was_written_is_read() -> None:
    assert read_notice(unsigned_bytes(NOTICE), "fair-1") == NOTICE


def changed(**changes: Any) -> bytes:
    return json.dumps(json.loads(unsigned_bytes(NOTICE)) | changes, indent=2).encode() + b"\n"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"[]",
        b"\xff",
        b"[" * 5_000,
        b" " * 20_000,
        unsigned_bytes(NOTICE).replace(b"\n", b""),
        unsigned_bytes(NOTICE).replace(b'"by"', b'"by": "other-1", "by"'),
        changed(says="Signed by the agency."),
        changed(release="fair-2"),
        changed(by="<script>"),
        changed(by="../../etc/passwd"),
        changed(by="\u001b[2J"),
        changed(state="current"),
        changed(more="download it from evil.example"),
    ],
)
def test_whatever_has_another_form_is_no_notice(content: bytes) -> None:
    """Whoever can write on the shelf would have `sluice verify` tell readers what they like."""
    with golden.raises(DataError):
        read_notice(content, "fair-1")


def test_a_pointer_says_that_it_is_not_signed() -> None:
    pointer = CurrentPointer(name="fair", current=None, period=None, published=None, manifest=None)
    read = json.loads(unsigned_bytes(pointer))
    assert read["says"].startswith("Not signed.")
    assert read["current"] is None
