"""A new project: contract, release definition, roster, connections and settings, with invented data to try them on."""

from collections.abc import Callable, Mapping
from importlib.resources import files
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from policies.people import Person, Roster
from sluice.custody.shelf import refuse_place
from sluice.custody.signing.keys_at_hand import make_key_pair
from sluice.ground.durable import make_folder, write_new
from sluice.ground.errors import SluiceError
from sluice.settings import settings
from tasks.release.decisions.founding import write_roster

RECORDS = 3000
_SEED = 20260101  # the same file for everybody: what the README says of it holds
_REGIONS = ("North", "East", "South", "West")

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
    contents = {place: shipped_file(name).encode() for name, place in _FILES.items()}
    contents["data/example.csv"] = example_csv().encode()
    return make_project(folder, contents, keys)


def make_project(
    folder: Path,
    contents: Mapping[str, bytes],
    keys: Path | None = None,
    finish: Callable[[Path], None] = lambda folder: None,
) -> list[Path]:
    """Write a folder of documents and the roster, all at once; returns the files but for what `finish` wrote.

    contents : place in the folder -> content
    finish   : writes what else belongs into the folder, before it gets its name
    raises   : SluiceError as above
    """
    folder = folder.resolve()
    refuse_misplaced(folder, keys.resolve() if keys else None)
    make_folder(folder.parent, 0o755)
    with TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as place:
        draft = Path(place) / folder.name
        make_folder(draft, 0o755)
        for name, content in contents.items():
            make_folder((draft / name).parent, 0o755)
            write_new(draft / name, content, 0o644)
        roster = Roster(people={name: Person(roles=roles, keys=_keys_of(name, keys)) for name, roles in PEOPLE.items()})
        write_roster(roster, draft / "people.yaml", folder / "people.yaml")
        finish(draft)
        draft.rename(folder)  # nothing, or an empty folder, is there
    return [folder / name for name in (*contents, "people.yaml")]


def shipped_file(name: str) -> str:
    """The text of a file that comes with Sluice for new projects."""
    return (files(__package__) / "files" / name).read_text(encoding="utf-8")


def refuse_misplaced(folder: Path, keys: Path | None = None) -> None:
    """Raise SluiceError where a project must not lie, for no time is to be lost before that is said."""
    folder = folder.resolve()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SluiceError(f"{folder} is there and not empty; a project is made in a folder of its own")
    home = settings().home
    if home != folder / ".sluice" and (folder.is_relative_to(home) or home.is_relative_to(folder)):
        raise SluiceError(f"PROJECT: must lie apart from the workspace {home}, which holds the vault; got {folder}")
    refuse_place(folder, option="PROJECT")
    if keys is None:
        return
    for place, what in ((folder, "the project, which others read"), (home, "the workspace")):
        if keys.is_relative_to(place):
            raise SluiceError(f"private keys must lie outside of {what}; got {keys}", field="--keys")


def _keys_of(name: str, keys: Path | None) -> tuple[str, ...]:
    return () if keys is None else (make_key_pair(keys / name, f"{name}@example").line,)


def example_csv() -> str:
    """Invented people with age, sex, region, education and income, as CSV. Nobody's; the same at each call."""
    rng = np.random.default_rng(_SEED)
    age = np.clip(rng.normal(47, 17, RECORDS).round(), 18, 89).astype(int)
    education = rng.choice(["school", "training", "degree"], RECORDS, p=[0.25, 0.45, 0.3])
    schooling = pd.Series(education).map({"school": -0.2, "training": 0.0, "degree": 0.3}).to_numpy()
    income = rng.lognormal(10.2 + schooling + 0.003 * (age - 47), 0.45)
    people = pd.DataFrame(
        {
            "person": np.arange(1, RECORDS + 1),
            "age": age,
            "sex": rng.choice(["f", "m"], RECORDS),
            "region": rng.choice(_REGIONS, RECORDS, p=[0.2, 0.25, 0.25, 0.3]),
            "education": education,
            "income": (income / 1000).round().astype(int) * 1000,
        }
    )
    text = StringIO()
    people.to_csv(text, index=False, lineterminator="\n")
    return text.getvalue()
