"""The documentation as a site: every link and anchor leads somewhere, every page is in the navigation, and a browser
that reads it asks no other host for anything.

Who reads the documentation of a data steward's program is worth knowing; a font, script or picture from elsewhere would
tell that host. It also must be readable where there is no network at all.
"""

import re
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
import yaml
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort

ROOT = Path(__file__).resolve().parents[2]
_ELSEWHERE = re.compile(r"^\s*(https?:|wss?:|//)", re.IGNORECASE)
_IN_STYLES = re.compile(r"(?:url\(|@import)\s*['\"]?([^'\")\s]+)")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(folder)))  # strict: a warning stops it
    return folder


class Loaded(HTMLParser):
    """What a page makes a browser load, without a click."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self._in = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in = tag
        for name, value in attrs:
            if value and (name in ("src", "srcset", "poster", "data") or (tag == "link" and name == "href")):
                self.addresses.append(value)
            if value and name == "style":
                self.addresses += _IN_STYLES.findall(value)
            if value and tag == "meta" and name == "content" and "url=" in value:
                self.addresses.append(value.split("url=")[1])

    def handle_data(self, data: str) -> None:
        if self._in == "style":
            self.addresses += _IN_STYLES.findall(data)


def elsewhere(addresses: list[str]) -> list[str]:
    return [address for address in addresses if _ELSEWHERE.match(address)]


def pages(site: Path) -> Iterator[tuple[str, str]]:
    for page in sorted(site.rglob("*.html")):
        yield page.name, page.read_text(encoding="utf-8")


def test_no_page_loads_anything_from_another_host(site: Path) -> None:
    loaded = {name: Loaded(page).addresses for name, page in pages(site)}
    assert len(loaded) >= 30
    assert all(len(addresses) >= 3 for addresses in loaded.values())  # styles and scripts were seen
    assert {name: foreign for name, each in loaded.items() if (foreign := elsewhere(each))} == {}
    for styles in site.rglob("*.css"):
        assert elsewhere(_IN_STYLES.findall(styles.read_text(encoding="utf-8"))) == [], styles.name
    assert not any('class="mermaid"' in page for _, page in pages(site))  # Material fetches its program


def test_pages_that_are_made_from_the_code_are_there(site: Path) -> None:
    commands = (site / "commands.html").read_text(encoding="utf-8")
    assert all(
        f">{name}<" in commands for name in ("sluice release", "sluice ledger verify", "sluice data hierarchy build")
    )
    keys = (site / "keys.html").read_text(encoding="utf-8")
    assert all(f'id="{name}"' in keys for name in ("contract", "policy", "release", "tables", "tuning", "connections"))
    assert "quasi_identifier" in keys
    assert "Rank swapping" not in keys  # methods have a page of their own
    assert (site / "schemas" / "contract.schema.json").is_file()
    assert "disassociation.py (<code>sluice/masking/items/disassociation.py</code>)" in (
        site / "notebook.html"
    ).read_text(encoding="utf-8")


@pytest.mark.servers
@pytest.mark.smoke
@pytest.mark.skipif(not shutil.which("chromium"), reason="needs Debian's chromium")
def test_a_browser_reads_and_searches_it_as_files_and_asks_nobody(site: Path) -> None:
    from playwright.sync_api import sync_playwright

    asked: list[str] = []
    with sync_playwright() as browsers:
        browser = browsers.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.route(_ELSEWHERE, lambda route: route.abort())
        for name in ("architecture.html", "index.html"):
            page.goto((site / name).as_uri())
        page.fill("[data-md-component=search-query]", "rank swapping")
        page.wait_for_selector(".md-search-result__link")
        found = page.locator(".md-search-result__link").first.get_attribute("href")
        browser.close()
    assert found is not None
    assert re.search(r"(methods|rules).html", found)
    assert len(asked) >= 10
    assert elsewhere(asked) == []


@pytest.mark.parametrize(
    ("text", "nav"),
    [
        ("[there](absent.md)", ["index.md", "other.md"]),
        ("[there](other.md#absent)", ["index.md", "other.md"]),
        ("no link", ["index.md"]),
    ],
    ids=["a page that is not there", "a heading that is not there", "a page that is not in the navigation"],
)
def test_the_build_stops_at_what_leads_nowhere(tmp_path: Path, text: str, nav: list[str]) -> None:
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    kept = {key: settings[key] for key in ("site_name", "strict", "validation")}
    (tmp_path / "mkdocs.yml").write_text(yaml.safe_dump({**kept, "theme": None, "plugins": [], "nav": nav}))
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "other.md").write_text("# Other\n")
    (tmp_path / "docs" / "index.md").write_text(f"# Home\n\n{text}\n")
    with pytest.raises(Abort):
        build(load_config(str(tmp_path / "mkdocs.yml")))


def test_the_picture_of_what_methods_leak_shows_the_figures() -> None:
    from deployments.documentation.leaks_picture import PICTURE, learned, picture

    assert learned("Census")["rank_swapping"] == [99.8, 77.2, 2.0]
    assert PICTURE.read_text(encoding="utf-8") == picture(), "run: python -m deployments.documentation.leaks_picture"


def test_what_a_page_would_load_is_noticed() -> None:
    page = '<link href="//a.example/x.css"><img src=local.png><p style="background: url(https://b.example/y)">'
    assert elsewhere(Loaded(f"{page}<style>@import 'http://c.example/z'</style>").addresses) == [
        "//a.example/x.css",
        "https://b.example/y",
        "http://c.example/z",
    ]
    assert elsewhere(Loaded('<a href="https://d.example">a link is read by a click alone</a>').addresses) == []
