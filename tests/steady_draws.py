"""Secrets and seeds of test houses that are the same on every run, so that no verdict depends on a draw.

A file beside the workspace of a test house says what is drawn there, and only what this module puts in the place of the
vault's own drawing reads it: Sluice itself knows neither the file nor any setting that could fix a seed.
"""

from hashlib import sha256
from pathlib import Path

from sluice.custody import vault
from sluice.ground import durable

_FILE = "draws"  # beside the folder that SLUICE_HOME names


def make_steady(house: Path, series: str) -> None:
    """What is drawn in the vault of this house follows from the name of the series, and the order of the draws."""
    (house / _FILE).write_text(series, encoding="utf-8")


def _create_once(path: Path, content: bytes) -> bytes:
    """As the vault's own, but for random bytes in a house whose draws are steady."""
    drawn = {"secret": path.parent, "seeds": path.parent.parent, "publisher": path.parent.parent}
    place = drawn.get(path.name, drawn.get(path.parent.name))
    if place is not None and len(content) == vault.SECRET_BYTES:
        series = place.parent.parent / _FILE
        if series.exists():
            others = sum(1 for _ in path.parent.iterdir()) if path.name != "secret" else 0
            content = sha256(f"{series.read_text(encoding='utf-8')} {path.parent.name} {others}".encode()).digest()
    return durable.create_once(path, content)


vault.create_once = _create_once
