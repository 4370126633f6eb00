"""The codebook of a file of records as one page for people: static, without scripts, and everything in it is text."""

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from sluice.ground.visible_text import visible
from sluice.publication.codebook import Codebook
from sluice.publication.license import license_address


def codebook_page(book: Codebook) -> bytes:
    """The page. The same codebook gives the same bytes. Nothing is loaded, and no style but its own counts."""
    css = files("sluice.publication").joinpath("codebook.css").read_text(encoding="utf-8")
    page = _template().render(
        book=book,
        parameters=[json.dumps(each, indent=1, ensure_ascii=False) for each in book.parameters],
        css=Markup(css),
        css_hash=base64.b64encode(hashlib.sha256(css.encode()).digest()).decode(),
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
    environment.filters["license_address"] = license_address
    return environment.get_template("codebook.html.j2")
