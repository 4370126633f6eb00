"""The software: its settings, the packages that it needs, and others that stand in its way."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import metadata

from packaging.requirements import Requirement

from flows.doctor.diagnosis import Diagnosis, fail, ok
from sluice.ground.errors import SluiceError
from sluice.settings import settings

# Top-level names that others may bring as well: in a working tree, of more packages than where Sluice is installed.
ROOMS = ("sluice_sdc",) if __name__.startswith("sluice_sdc.") else ("flows", "tasks", "schemas", "policies")
_OURS = "sluice-sdc"
_STRANGER = "sluice"  # a distribution of this name is another program, whose package has the name of ours


def settings_in_order() -> Diagnosis:
    """Whether every SLUICE_ variable is one, with an allowed value."""
    try:
        home = settings().home
    except SluiceError as error:
        return fail("settings", str(error), "Mend the variable, in /etc/sluice/environment or where the command runs.")
    return ok("settings", f"the workspace is {home}")


def packages() -> Iterator[Diagnosis]:
    """Whether all that is needed is installed, in the versions that were seen to run together."""
    wrong = unmet(metadata.requires(_OURS) or (), _installed)
    if wrong:
        yield fail("packages", "; ".join(wrong), "Install what the lock pins: make install")
    else:
        yield ok("packages", f"{_OURS} {metadata.version(_OURS)}, and all that it needs")
    yield namesakes(owners((*ROOMS, _STRANGER)), stranger=_installed(_STRANGER))


def unmet(requirements: Sequence[str], installed: Callable[[str], str | None]) -> list[str]:
    """What is missing or of another version, in words; requirements of extras are nobody's here."""
    found = []
    for written in requirements:
        wanted = Requirement(written)
        if wanted.marker and not wanted.marker.evaluate({"extra": ""}):
            continue
        version = installed(wanted.name)
        if version is None:
            found.append(f"{wanted.name} is not installed")
        elif not wanted.specifier.contains(version, prereleases=True):
            found.append(f"{wanted.name} is {version}; it must be {wanted.specifier}")
    return found


def owners(names: Sequence[str]) -> dict[str, list[str]]:
    """Top-level name -> the distributions that bring it, by their own lists of names or of files.

    `metadata.packages_distributions` finds the same, and makes a path of each of forty thousand files.
    """
    of_files = re.compile(rf"^({'|'.join(map(re.escape, names))})(?:/.*)?\.py,", re.MULTILINE)
    found: dict[str, list[str]] = {name: [] for name in names}
    for each in metadata.distributions():
        listed = (each.read_text("top_level.txt") or "").split()
        for name in {*(listed or of_files.findall(each.read_text("RECORD") or ""))} & {*names}:
            found[name].append(each.name)
    return found


def namesakes(owners: Mapping[str, Sequence[str]], stranger: str | None = None) -> Diagnosis:
    """Whether another distribution brings a top-level package of the name of one of ours: one hides the other.

    owners   : top-level name -> the distributions that bring it
    stranger : version of an installed distribution called `sluice`, which is not ours
    """
    if stranger:
        return fail(
            "names",
            f"the distribution 'sluice' {stranger} is installed, which is another program; Sluice is '{_OURS}'",
            f"pip uninstall sluice, then pip install --force-reinstall --no-deps {_OURS}: they write the same folder.",
        )
    others = {name: sorted({*owners.get(name, ())} - {_OURS}) for name in (*ROOMS, "sluice")}
    if said := [f"'{name}' comes from {', '.join(found)}, too" for name, found in others.items() if found]:
        return fail("names", "; ".join(said), "Uninstall it here: which of the two is imported is left to chance.")
    return ok("names", f"no other distribution brings {', '.join(ROOMS)}")


def _installed(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
