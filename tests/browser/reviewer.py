"""A reviewer in a real browser, who has a keyboard and no mouse; and what axe says of the pages."""

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from socket import create_server
from typing import Any

import uvicorn
from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import Browser, Page

from flows.desk.application import application
from flows.desk.desk import Desk
from tests.flows.desk.visitor import PASSWORD
from tests.flows.house import House

CHROMIUM = shutil.which("chromium")
NARROW, WIDE = {"width": 400, "height": 800}, {"width": 1200, "height": 800}
_MOST_TABS = 150

_FOCUSED = """() => {
  const element = document.activeElement;
  const label = element.labels && element.labels.length ? element.labels[0].innerText : "";
  return (label || element.innerText || element.value || "").trim();
}"""


@contextmanager
def serving(made: Callable[[str], Any]) -> Iterator[str]:
    """Serve what is made for an address on a port that was free; the address."""
    socket = create_server(("127.0.0.1", 0))
    address = f"http://127.0.0.1:{socket.getsockname()[1]}"
    server = uvicorn.Server(uvicorn.Config(made(address), log_level="critical", proxy_headers=False))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]}, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "it did not start"
        time.sleep(0.05)
    try:
        yield address
    finally:
        server.should_exit = True
        thread.join()


@contextmanager
def served(house: House, *people: str) -> Iterator[Desk]:
    """The desk of a house, at which these people have accounts."""
    desks: list[Desk] = []

    def made(address: str) -> Any:
        desks.append(Desk.of(house.home, address))
        for name in people:
            desks[0].accounts.put(name, PASSWORD)
        return application(desks[0])

    with serving(made):
        yield desks[0]


class Reviewer:
    """One person, with a browser of their own."""

    def __init__(self, browser: Browser, address: str, name: str) -> None:
        self.browser, self.name, self.faults = browser, name, list[str]()
        self.page: Page = browser.new_context(viewport=WIDE, accept_downloads=True).new_page()  # type: ignore[arg-type]
        self.page.set_default_timeout(120_000)
        self.page.on("console", lambda message: self.faults.append(message.text) if message.type == "error" else None)
        self.page.goto(address)

    def sign_in(self) -> None:
        self.tab_to("Your name")
        self.write(self.name)
        self.tab_to("Password")
        self.write(PASSWORD)
        self.enter("Sign in")

    def tab_to(self, words: str) -> None:
        """Move the focus, key by key, to what begins with these words."""
        passed = []
        for _ in range(_MOST_TABS):
            self.page.keyboard.press("Tab")
            passed.append(self.page.evaluate(_FOCUSED))
            if passed[-1].startswith(words):
                return
        raise AssertionError(f"no key leads to {words!r}; they lead to {list(dict.fromkeys(passed))}")

    def enter(self, words: str) -> None:
        """Go to a link or a button, and take it."""
        self.tab_to(words)
        with self.page.expect_navigation():
            self.page.keyboard.press("Enter")

    def choose(self, words: str) -> None:
        """Choose one of a group: Tab leads to the group, arrows within it."""
        self.tab_to("Approve")
        self.page.keyboard.press("Space")
        for _ in range(10):
            if self.page.evaluate(_FOCUSED).startswith(words):
                return
            self.page.keyboard.press("ArrowDown")
        raise AssertionError(f"no key leads to {words!r}")

    def write(self, text: str) -> None:
        self.page.keyboard.insert_text(text)

    def download(self, words: str) -> bytes:
        self.tab_to(words)
        with self.page.expect_download() as coming:
            self.page.keyboard.press("Enter")
        return Path(coming.value.path()).read_bytes()

    @property
    def text(self) -> str:
        return self.page.inner_text("main")

    def is_usable(self) -> None:
        """The page, as it stands, has no fault of weight for axe at either width, in light and dark, and no part of it
        lies beyond the edge. Axe is a script, which the desk's pages let nobody run: it looks at a copy."""
        url, html = self.page.url, self.page.content()
        for viewport, scheme in ((WIDE, "light"), (NARROW, "dark")):
            context = self.browser.new_context(
                bypass_csp=True,
                viewport=viewport,
                color_scheme=scheme,  # type: ignore[arg-type]
            )
            copy = context.new_page()
            copy.route(url, lambda route: route.fulfill(body=html, content_type="text/html; charset=utf-8"))
            copy.goto(url)
            found: list[dict[str, Any]] = Axe().run(copy).response["violations"]
            grave = [(each["id"], [node["html"] for node in each["nodes"]]) for each in found
                     if each["impact"] in ("serious", "critical")]  # fmt: skip
            assert grave == [], (url, viewport, scheme)
            assert copy.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), (url, viewport)
            context.close()

    def picture(self, folder: Path | None, name: str, viewport: dict[str, int] = WIDE) -> None:
        """For the docs, where a folder is given."""
        if folder is None:
            return
        self.page.set_viewport_size(viewport)  # type: ignore[arg-type]
        self.page.evaluate("document.activeElement.blur(); window.scrollTo(0, 0)")
        drawn = Image.open(BytesIO(self.page.screenshot())).convert("RGB")
        drawn.quantize(64).save(folder / f"{name}.png", optimize=True)
        self.page.set_viewport_size(WIDE)  # type: ignore[arg-type]
