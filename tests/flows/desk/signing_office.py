"""An office whose people are known by their signature, with keys outside of the house."""

import re
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any

from sluice.custody.signing.keys_at_hand import make_key_pair
from sluice.custody.signing.ssh_signature import signed_by_file
from tests.flows.desk.visitor import Visitor
from tests.flows.house import House


@dataclass(frozen=True)
class Keys:
    folder: Path

    def of(self, name: str) -> Path:
        return self.folder / name

    def sign(self, name: str, content: bytes) -> str:
        return signed_by_file(content, self.of(name))


def adopt_keys(house: House, folder: Path) -> Keys:
    """Give everybody on the roster a key, and have them known by it from now on."""
    folder.mkdir(exist_ok=True)
    for name, person in house.people["people"].items():
        person["keys"] = [make_key_pair(folder / name, name).line]
    house.people["identity"] = "key"
    house.write()
    house.adopt()
    return Keys(folder)


def hidden(page: str) -> dict[str, str]:
    """What the last form of a page holds unseen."""
    form = page.rpartition("<form")[2]
    found = re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form)
    return {name: unescape(value) for name, value in found}


def begun(who: Visitor, release: str, what: str, comment: str = "") -> Any:
    """The page on which somebody signs."""
    return who.send(f"/releases/{release}", f"/releases/{release}/act", what=what, comment=comment)


def to_sign(who: Visitor, release: str, page: Any) -> bytes:
    """The file that is downloaded from there."""
    content: bytes = who.post(f"/releases/{release}/statement", **hidden(page.text)).content
    return content
