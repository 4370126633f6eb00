"""Which version of the software this is, and from which commit, where that is known; and of what computes its
figures.
"""

import json
from functools import cache
from importlib.metadata import Distribution, distribution, version
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sluice.settings import settings

COMPUTED_BY = ("sluice", "numpy", "scipy", "pandas", "pyarrow", "numba", "scikit-learn", "duckdb", "highspy")

_NOTED = Path(__file__).with_name("commit.txt")  # in a wheel alone


def software_version() -> str:
    """Such as "0.2.0, commit 1f2e3d4c5b6a"; without the commit where nobody knows it.

    It is what SLUICE_COMMIT says (an image has no history), what the build noted in the wheel, what pip noted when it
    installed from a repository, or what is checked out where the installation is a working tree.
    """
    installed = distribution("sluice-sdc")
    commit = settings().commit or _commit_of_wheel() or _commit_of(installed)
    return f"{installed.version}, commit {commit[:12]}" if commit else installed.version


def _commit_of_wheel() -> str | None:
    """What setup.py noted; nothing where files of the working tree were other than its commit's."""
    try:
        return _NOTED.read_text(encoding="ascii").strip() or None
    except (OSError, ValueError):
        return None


def _commit_of(installed: Distribution) -> str | None:
    noted = json.loads(installed.read_text("direct_url.json") or "{}")  # PEP 610
    if known := noted.get("vcs_info", {}).get("commit_id"):
        return str(known)
    if not noted.get("dir_info", {}).get("editable"):
        return None  # a copy: the folder may have gone on since
    return _checked_out(Path(unquote(urlsplit(noted["url"]).path)) / ".git")


def _checked_out(git: Path) -> str | None:
    try:
        head = (git / "HEAD").read_text(encoding="ascii").strip()
        name = head.removeprefix("ref: ")
        if name == head:
            return head
        if (git / name).exists():
            return (git / name).read_text(encoding="ascii").strip()
        packed = (git / "packed-refs").read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):
        return None
    return next((line.split()[0] for line in packed if line.endswith(f" {name}")), None)


def versions() -> dict[str, str]:
    """Name -> version of Sluice and the libraries."""
    return {name: _version("sluice-sdc" if name == "sluice" else name) for name in COMPUTED_BY}


_version = cache(version)  # asked once: a process goes on with the libraries that it has loaded
