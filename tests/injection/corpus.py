"""What a person may try to write into a text that others will read; `zz` marks what must never become markup."""

from html.parser import HTMLParser

from hypothesis import strategies as st

# Each is honest text to somebody, and is shown as it is.
WRITABLE = (
    "<zz onload=zz(1)>",
    '"><zz-a href="javascript:zz(1)">',
    "' zzattr='1",
    "</style></title></svg></script><zz>",
    "<!--zz",
    "<![CDATA[<zz>]]>",
    "&lt;zz&gt; &#60;zz&#62; &amp;lt;zz",
    "javascript:zz(1)",
    "{{ 7*7 }}{% zz %}{# zz #}",
    "${zz} $column $PARAMETER $$",
    "[red]zz[/red] [link=http://zz.example]zz[/link] [/]",
    "`zz` **zz** [zz](http://zz.example) ![zz](http://zz.example/x.png) <http://zz.example>",
    "http://zz.example www.zz.example zz@zz.example",
    r"$\zz{x}$ $x^{2",
    "%zz %s %(zz)s %n",
    "=cmd|'/c zz'!A1",
    "@SUM(zz)",
    "+zz",
    "-zz",
    "'; DROP TABLE zz; --",
    r"zz\" \n \u0000 \x1b[31m",
    "zz: {a: !!b *c} # zz",
    "zz,zz;zz|zz",
    "../../zz",
    "zz zz ¦ ‰ Zoë 日本 🙂",
)

# No name holds one of these: a terminal obeys them, nobody sees them, or they reorder or break what stands around them.
UNSEEN = (
    "zz\x1b[2K\x1b[1Aapproved",
    "zz\x1b]8;;http://zz.example\x07zz\x1b]8;;\x07",
    "zz\x9b31m",
    "zz\x90q\x9c",
    "zz\rapproved",
    "zz\b\b\b",
    "zz\x00",
    "zz\nfair-survey is published.",
    "zz\tzz",
    "zz\u202egpj.exe",
    "zz\u2066zz\u2069",
    "zz\u200b",
    "\ufeffzz",
    "zz\u2028zz",
    "zz\x85zz",
    "zz\xad",
    "zz\u3164",
    "zz\U000e0041",
)

texts = st.one_of(
    st.sampled_from(WRITABLE), st.sampled_from(UNSEEN), st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
).map("zz{}".format)
"""Any text at all, marked."""


class Page(HTMLParser):
    """What a browser would make of a page: its elements, their attributes, and the texts that are read."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: set[str] = set()
        self.attributes: set[tuple[str, str | None]] = set()
        self.text = ""
        self._within: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.attributes |= set(attrs)

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        self.elements.add(f"comment {data}")

    def unknown_decl(self, data: str) -> None:
        self.elements.add(f"declaration {data}")

    @property
    def injected(self) -> list[str]:
        """What is markup and came from a person: elements, names of attributes, handlers, and addresses."""
        found = [element for element in self.elements if "zz" in element]
        for name, value in self.attributes:
            runs = name.startswith("on") or (name in ("href", "src", "style", "action") and "zz" in (value or ""))
            if "zz" in name or runs:
                found.append(f"{name}={value}")
        return sorted(found)
