"""A new project: contract, release definition, roster, connections and settings, with invented data to try them on."""

from importlib.resources import files
from pathlib import Path

from policies.people import Person, Roster
from sluice.custody.durable import make_folder, write_new
from sluice.custody.signing.key_pair import make_key_pair
from sluice.errors import SluiceError
from sluice.settings import settings
from tasks.project.example_data import example_csv
from tasks.release.founding import write_roster

PEOPLE = {"mei": ("head", "owner"), "amara": ("methodologist",), "jonas": ("data_steward",)}
"""Who a new project's office consists of, until real people are named: the submitter and two who decide."""

_FILES = {  # what comes with Sluice -> its place in the project
    "readme.md": "README.md",
    "contract.yaml": "contracts/example.yaml",
    "release.yaml": "releases/example.yaml",
    "connections.yaml": "connections.yaml",
    "environment": "environment",
    "gitignore": ".gitignore",
}


def new_project(folder: Path, keys: Path | None = None) -> list[Path]:
    """Make the folder of a project that works as it is; returns the files that it wrote.

    keys   : a folder outside of the project that gets a key pair for each of PEOPLE, to try all roles alone; the
             roster then has the public keys, and the project no private one
    raises : SluiceError where the folder holds anything, or it, the workspace and `keys` do not lie apart
    """
    folder = folder.resolve()
    _refuse_misplaced(folder, keys.resolve() if keys else None)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SluiceError(f"{folder} is there and not empty; a project is made in a folder of its own")
    roster = Roster(people={name: Person(roles=roles, keys=_keys_of(name, keys)) for name, roles in PEOPLE.items()})
    shipped = files("tasks.project") / "files"
    contents = {place: (shipped / name).read_bytes() for name, place in _FILES.items()}
    contents["data/example.csv"] = example_csv().encode()
    for place, content in contents.items():
        make_folder((folder / place).parent, 0o755)
        write_new(folder / place, content, 0o644)
    write_roster(roster, folder / "people.yaml")
    return [folder / place for place in (*contents, "people.yaml")]


def _refuse_misplaced(folder: Path, keys: Path | None) -> None:
    home = settings().home
    if home != folder / ".sluice" and (folder.is_relative_to(home) or home.is_relative_to(folder)):
        raise SluiceError(f"PROJECT: must lie apart from the workspace {home}, which holds the vault; got {folder}")
    if keys is None:
        return
    for place, what in ((folder, "the project, which others read"), (home, "the workspace")):
        if keys.is_relative_to(place):
            raise SluiceError(f"--keys: private keys must lie outside of {what}; got {keys}")


def _keys_of(name: str, keys: Path | None) -> tuple[str, ...]:
    return () if keys is None else (make_key_pair(keys / name, f"{name}@example").line,)
