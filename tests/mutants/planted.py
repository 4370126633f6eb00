"""Faults planted by hand: small edits of the product, each of which some test must notice."""

from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
FAULTS = Path(__file__).with_name("faults.yaml")


@dataclass(frozen=True)
class Fault:
    """An edit of one file: `old`, which stands there once, becomes `new`."""

    name: str
    file: str  # from the root of the project
    says: str  # what is then wrong, in a user's words
    old: str
    new: str
    near: str = ""  # the file of the tests nearest to it, where none has the name of `file`

    def planted(self, text: str) -> str:
        """The file's text with the fault in it. Raises ValueError, which names the fault, where it does not apply."""
        found = text.count(self.old)
        if found != 1:
            raise ValueError(
                f"{self.name}: its old text stands {found} times in {self.file}, not once. Adapt it to what the file "
                "has become, so that the same is wrong."
            )
        return text.replace(self.old, self.new)


def faults() -> list[Fault]:
    """All of them, in the order of the list."""
    return [Fault(**each) for each in yaml.safe_load(FAULTS.read_text(encoding="utf-8"))]
