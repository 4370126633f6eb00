"""The catalogue of a shelf as one page for people: static, without scripts, and everything in it is text."""

import base64
import hashlib
from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from sluice.ground.visible_text import visible
from sluice.publication.catalogue import JSON_LD, PACKAGES, Series, doi_address

PAGE = "catalogue.html"


def as_page(series: Series) -> bytes:
    """The page. The same editions give the same bytes. Nothing is loaded, and no style but its own counts."""
    css = files("sluice.publication").joinpath("catalogue.css").read_text(encoding="utf-8")
    page = _template().render(
        series=[(name, series[name]) for name in sorted(series)],
        css=Markup(css),
        css_hash=base64.b64encode(hashlib.sha256(css.encode()).digest()).decode(),
        json_ld=JSON_LD,
        packages=PACKAGES,
    )
    return page.encode()


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("sluice.publication", "."),
        autoescape=True,
        finalize=lambda value: visible(value) if type(value) is str else value,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["doi_address"] = doi_address
    return environment.get_template("catalogue.html.j2")
