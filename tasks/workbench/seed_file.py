"""A secret seed in a file, for commands outside a release: the same seed and data give the same output again.

By itself, as who masks a file of records loads nothing of tables.
"""

import os
import secrets
from pathlib import Path

from sluice.custody.shelf import refuse_place
from sluice.ground.errors import DocumentError

_LEAST_SECRET = 2**64  # who guesses the seed undoes what was drawn by it


def seed_of(file: Path) -> int:
    """The whole number in the file; a file that is not there is made with a new one, readable for its owner alone.

    raises : DocumentError
    """
    refuse_place(file, option="--seed-file")
    if not file.exists():
        seed = secrets.randbits(128)
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as made:
            made.write(f"{seed}\n")
        return seed
    text = file.read_text(encoding="utf-8", errors="replace").strip()
    if not text.isascii() or not text.isdigit() or len(text) > 100:
        raise DocumentError(f"{file}: must hold one whole number, at least 0, of at most 100 digits")
    return int(text)


def secret_seed_of(file: Path) -> int:
    """The same, of a seed that nobody can guess. Raises DocumentError for another."""
    seed = seed_of(file)
    if seed < _LEAST_SECRET:
        raise DocumentError(f"{file}: the seed could be guessed; name a file that is not there, to have one made")
    return seed
