"""The study: who collected the data, where, when and how, as the contract says it, and its place in each format.

What is not given is left out everywhere. The mapping, by field:

=========  ============================  =======================  =======================  ====================
field      DDI-Codebook 2.5              CITATION.cff 1.2         DCAT 3                   Croissant, schema.org
=========  ============================  =======================  =======================  ====================
authors    AuthEnty                      authors                  dcterms:creator          creator
contact    distStmt/contact              contact                  dcat:contactPoint        -
keywords   subject/keyword               keywords                 dcat:keyword             keywords
funding    fundAg                        -                        -                        funder
place      geogCover                     -                        dcterms:spatial          spatialCoverage
time       collDate                      -                        -                        temporalCoverage
mode       collMode                      -                        -                        measurementTechnique
sampling   sampProc                      -                        -                        -
weights    weight                        -                        -                        -
language   notes                         -                        dcterms:language         inLanguage
access     restrctn                      -                        dcterms:accessRights     conditionsOfAccess
=========  ============================  =======================  =======================  ====================

README and codebook say all of them in words. `dcterms:temporal` is the period that an edition is about, not that of the
collection. DDI's elements are in `sluice/publication/ddi_codebook.py`, where their order is kept.
"""

import re
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from sluice.ground.variables import Label
from sluice.ground.visible_text import Name, Prose

_DAY = r"\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?"


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Author(_Strict):
    """A person, if a given name is there; else an organisation."""

    name: Name = Field(min_length=1, description="the family name of a person, or the name of an organisation")
    given: Name | None = Field(default=None, min_length=1, description="the given name of a person")
    affiliation: Name | None = Field(default=None, min_length=1, description="where a person works")
    orcid: str | None = Field(default=None, pattern=r"^\d{4}-\d{4}-\d{4}-\d{3}[\dX]$")

    @property
    def whole(self) -> str:
        """'Doe, Jane', or the name of an organisation."""
        return f"{self.name}, {self.given}" if self.given else self.name


class Contact(_Strict):
    """Who answers questions."""

    name: Name = Field(min_length=1)
    email: str | None = Field(default=None, pattern=r"^[^@\s<>\"']+@[^@\s<>\"']+\.[^@\s<>\"']+$", max_length=254)


class Study(_Strict):
    """What archives and catalogues ask of a study."""

    authors: tuple[Author, ...] = Field(default=(), description="who made the data set, in the order of a citation")
    contact: Contact | None = Field(default=None, description="who answers questions of data users")
    keywords: tuple[Name, ...] = ()
    funding: tuple[Name, ...] = Field(default=(), description="who paid for it")
    place: tuple[Name, ...] = Field(default=(), description="countries or regions that the data are about")
    time: Label | None = Field(
        default=None, description="when the data were collected: 2024, 2024-03, 2024-03-31, or from/to: 2024-01/2024-06"
    )
    mode: Prose = Field(default="", description="how the data were collected: interviews, a register, measurements")
    sampling: Prose = Field(default="", description="of whom the sample is, and how it was drawn")
    weights: Prose = Field(default="", description="what the weights are for, and when to use them")
    language: str | None = Field(default=None, pattern=r"^[a-z]{2,3}(-[A-Z]{2})?$", description="of texts in the data")
    access: Prose = Field(default="", description="who may have the file, and under which conditions")

    @field_validator("time")
    @classmethod
    def _is_time(cls, time: str | None) -> str | None:
        if time is None:
            return None
        first, _, last = time.partition("/")
        if not re.fullmatch(rf"{_DAY}(/{_DAY})?", time) or (last and last < first):
            raise ValueError(f"must be a year, month or day, or two of them such as 2024-01/2024-06; got '{time}'")
        return time

    @property
    def first_and_last(self) -> tuple[str, str]:
        """The ends of `time`, the same twice for one year, month or day; empty texts without it."""
        first, _, last = (self.time or "").partition("/")
        return first, last or first


def in_words(study: Study | None) -> dict[str, str]:
    """Heading -> text of what is given, for README and codebook."""
    if study is None:
        return {}
    contact = study.contact
    said = {
        "Authors": "; ".join(
            f"{each.whole} ({each.affiliation})" if each.affiliation else each.whole for each in study.authors
        ),
        "Contact": (f"{contact.name}, {contact.email}" if contact.email else contact.name) if contact else "",
        "Keywords": ", ".join(study.keywords),
        "Funding": "; ".join(study.funding),
        "Place": ", ".join(study.place),
        "Time": " to ".join(dict.fromkeys(study.first_and_last)),
        "Collection": study.mode,
        "Sampling": study.sampling,
        "Use of weights": study.weights,
        "Language": study.language or "",
        "Access": study.access,
    }
    return {heading: text for heading, text in said.items() if text}


def in_citation(study: Study | None) -> dict[str, Any]:
    """Fields of CITATION.cff."""
    if study is None:
        return {}
    return _given(
        {
            "authors": [_cited(each) for each in study.authors],
            "contact": [study.contact.model_dump(exclude_none=True)] if study.contact else [],
            "keywords": list(study.keywords),
        }
    )


def _cited(author: Author) -> dict[str, str]:
    orcid = {"orcid": f"https://orcid.org/{author.orcid}"} if author.orcid else {}
    if author.given is None:
        return {"name": author.name, **orcid}  # an entity has no affiliation
    person = {"family-names": author.name, "given-names": author.given}
    return person | ({"affiliation": author.affiliation} if author.affiliation else {}) | orcid


def in_croissant(study: Study | None) -> dict[str, Any]:
    """Properties of a schema.org data set."""
    if study is None:
        return {}
    return _given(
        {
            "creator": [_of_schema_org(each) for each in study.authors],
            "keywords": list(study.keywords),
            "funder": [{"@type": "sc:Organization", "name": each} for each in study.funding],
            "spatialCoverage": list(study.place),
            "temporalCoverage": study.time,
            "measurementTechnique": study.mode,
            "inLanguage": study.language,
            "conditionsOfAccess": study.access,
        }
    )


def _of_schema_org(author: Author) -> dict[str, Any]:
    orcid = {"sameAs": f"https://orcid.org/{author.orcid}"} if author.orcid else {}
    if author.given is None:
        return {"@type": "sc:Organization", "name": author.name, **orcid}
    works = {"affiliation": {"@type": "sc:Organization", "name": author.affiliation}} if author.affiliation else {}
    names = {"name": f"{author.given} {author.name}", "givenName": author.given, "familyName": author.name}
    return {"@type": "sc:Person", **names, **works, **orcid}


def in_dcat(study: Study | None) -> dict[str, Any]:
    """Properties of a dcat:Dataset."""
    if study is None:
        return {}
    contact: dict[str, Any] = {}
    if study.contact:
        contact = {"@type": "vcard:Kind", "vcard:fn": study.contact.name}
        if study.contact.email:
            contact["vcard:hasEmail"] = {"@id": f"mailto:{study.contact.email}"}
    return _given(
        {
            "dcterms:creator": [{"@type": "foaf:Agent", "foaf:name": each.whole} for each in study.authors],
            "dcat:contactPoint": contact,
            "dcat:keyword": list(study.keywords),
            "dcterms:spatial": [{"@type": "dcterms:Location", "skos:prefLabel": each} for each in study.place],
            "dcterms:language": study.language,
            "dcterms:accessRights": {"@type": "dcterms:RightsStatement", "skos:prefLabel": study.access}
            if study.access
            else None,
        }
    )


def _given(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value}
