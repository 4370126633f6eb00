"""A browser without scripts that visits the desk, as one person of a house or as nobody."""

import re
import warnings
from dataclasses import dataclass, field
from html import unescape
from typing import Any

from flows.desk.application import application
from flows.desk.desk import Desk
from tests.flows.house import House

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it would rather have the successor of httpx
    from starlette.testclient import TestClient

ADDRESS = "http://desk.example"
PASSWORD = "correct horse battery"


@dataclass
class Visitor:
    """Cookies of its own, at one desk."""

    desk: Desk
    headers: dict[str, str] = field(default_factory=dict)
    peer: str = "127.0.0.1"

    def __post_init__(self) -> None:
        self.client = TestClient(
            application(self.desk), base_url=self.desk.address, follow_redirects=False, client=(self.peer, 50000)
        )

    def get(self, path: str, **headers: str) -> Any:
        return self.client.get(path, headers=self.headers | headers)

    def post(self, path: str, /, headers: dict[str, str] | None = None, **fields: Any) -> Any:
        """Send a form as it is given."""
        files = fields.pop("files", None)
        sent = self.headers | {"origin": self.desk.address} | (headers or {})
        return self.client.post(path, data=fields, headers=sent, files=files)

    def token(self, page: str = "/") -> str:
        """The token of the forms on a page."""
        found = re.search(r'name="token" value="([^"]*)"', self.get(page).text)
        return found[1] if found else ""

    def send(self, page: str, to: str, /, **fields: Any) -> Any:
        """Send a form of a page, with what stands in it."""
        held = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', self.get(page).text))
        return self.post(to, **{name: unescape(value) for name, value in held.items()} | fields)

    def sign_in(self, name: str, password: str = PASSWORD) -> Any:
        return self.post("/sign-in", token=self.token("/sign-in"), name=name, password=password)


def desk_of(house: House, *accounts: str, address: str = ADDRESS) -> Desk:
    """A desk of the house, at which these people have accounts."""
    desk = Desk.of(house.home, address)
    for name in accounts:
        desk.accounts.put(name, PASSWORD)
    return desk


def visitor(desk: Desk, name: str) -> Visitor:
    """Somebody who is signed in."""
    made = Visitor(desk)
    assert made.sign_in(name).status_code == 303
    return made
