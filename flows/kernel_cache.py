"""Where compiled kernels are kept when numba has no place of its own: an account without a home, a system-wide install.

numba keeps them beside the source or below the user's home, and fails when it can write to neither. Importing this
module names the workspace then. It must come before anything that imports numba.
"""

import os
from pathlib import Path


def _writable(folder: Path) -> bool:
    """Whether this account could make files in `folder`, which need not exist yet."""
    existing = next((place for place in (folder, *folder.parents) if place.exists()), None)
    return existing is not None and existing.is_dir() and os.access(existing, os.W_OK)


def choose(package: Path, user_cache: Path, workspace: Path) -> Path | None:
    """The folder for compiled kernels; None: numba finds one by itself."""
    try:
        found = _writable(package) or _writable(user_cache)
    except OSError:  # not even to be looked at
        found = False
    return None if found else workspace / "kernels"


if "NUMBA_CACHE_DIR" not in os.environ:
    place = choose(
        Path(__file__).resolve().parents[1] / "sluice" / "risk" / "distances" / "__pycache__",
        Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "numba",
        Path(os.environ.get("SLUICE_HOME", ".sluice")).resolve(),
    )
    if place is not None:
        os.environ["NUMBA_CACHE_DIR"] = str(place)
