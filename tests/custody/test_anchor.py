"""The anchor: it moves forward only, and nobody without the key can write it."""

from pathlib import Path

import pytest

from sluice.custody.ledger_chain import Anchor

KEY = bytes(32)


def test_it_names_the_last_row_and_never_moves_back(tmp_path: Path) -> None:
    anchor = Anchor(tmp_path / "anchor", KEY)
    assert anchor.read() is None
    anchor.move(3, "c" * 64)
    anchor.move(2, "b" * 64)  # of two appends that end together the later row stays
    assert anchor.read() == (3, "c" * 64)
    anchor.move(4, "d" * 64)
    assert anchor.read() == (4, "d" * 64)
    assert (tmp_path / "anchor").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", ["", "3 cc", "x cc mac", "3 cc mac mac", f"2 {'c' * 64} {{mac}}"])
def test_another_text_is_not_believed(tmp_path: Path, content: str) -> None:
    anchor = Anchor(tmp_path / "anchor", KEY)
    anchor.move(3, "c" * 64)
    mac = anchor.path.read_text().split()[2]
    anchor.path.write_text(content.format(mac=mac))
    assert anchor.read() is None


def test_another_key_does_not_fit(tmp_path: Path) -> None:
    Anchor(tmp_path / "anchor", KEY).move(1, "a" * 64)
    assert Anchor(tmp_path / "anchor", bytes(31) + b"x").read() is None
