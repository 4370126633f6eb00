"""What the structure of an SDMX-CSV file says of its columns: names of concepts, and what the codes mean.

Source: SDMX 2.1 and 3.0, Section 3 (SDMX-ML structure message): a data structure definition (DSD), whose components are
the columns, with the concepts and code lists that it names. Read by sdmx1.
"""

import codecs
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sluice.ground.errors import SluiceError
from sluice.sources.tabular_source import ColumnDescription, Descriptions

_LARGEST = 64 << 20  # bytes of a message; the largest code lists of Eurostat take some 10 MB
_ENCODING = re.compile(rb"""<\?xml[^>]*?encoding\s*=\s*["']([^"']*)""")
_LIKE_ASCII = (b"utf-8", b"utf8", b"us-ascii", b"iso-8859-1")


def structure_descriptions(path: Path, columns: tuple[str, ...]) -> Descriptions:
    """The components of the one data structure definition in the message that describes these columns, by their names.

    columns : of the data; those that the structure does not name (such as DATAFLOW or ACTION) are not described
    raises  : SluiceError when the file cannot be read, is no structure message, or when not exactly one of its DSDs has
              all its dimensions among the columns
    cost    : that of the message, whose code lists are held whole
    """
    import sdmx  # slow to load, and needed for few files

    try:
        size = path.stat().st_size
        if size > _LARGEST:
            raise SluiceError(f"{path} has {size:,} bytes; a structure message may have {_LARGEST:,}.")
        _refuse_entities(path.read_bytes(), path)
        message = sdmx.read_sdmx(path)
    except SluiceError:
        raise
    except OSError as error:
        raise SluiceError(f"{path} cannot be read: {error.strerror or 'it is no file'}.") from None
    except Exception:  # of several libraries, by what is wrong with the text
        raise SluiceError(f"{path} is not an SDMX-ML structure message that sdmx1 can read.") from None
    found = list(getattr(message, "structure", {}).values())
    fitting = [dsd for dsd in found if {each.id for each in dsd.dimensions} <= {*columns, "TIME_PERIOD"}]
    if len(fitting) != 1:
        names = ", ".join(sorted(f"{dsd.id} ({', '.join(each.id for each in dsd.dimensions)})" for dsd in found))
        many = "several" if fitting else "none"
        raise SluiceError(
            f"{path}: exactly one data structure definition must have dimensions that are all columns of the data; "
            f"{many} of these have: {names or 'the message holds no definition'}."
        )
    return {name: described for name, described in _components(fitting[0]) if name in columns}


def _refuse_entities(content: bytes, path: Path) -> None:
    """A document type may define texts that grow, or that are read from elsewhere. Raises SluiceError.

    It is looked for by its letters, so these must be those of ASCII.
    """
    declared = _ENCODING.match(content.removeprefix(codecs.BOM_UTF8))
    if b"\0" in content or (declared and declared[1].lower() not in _LIKE_ASCII):
        raise SluiceError(f"{path} must be in UTF-8.")
    if b"<!DOCTYPE" in content:
        raise SluiceError(f"{path} declares a document type; an SDMX message has none.")


def _components(dsd: Any) -> Iterator[tuple[str, ColumnDescription]]:
    for part in (dsd.dimensions, dsd.attributes, dsd.measures):
        for component in part:
            concept = component.concept_identity
            codes = _codes(component.local_representation) or _codes(getattr(concept, "core_representation", None))
            label = _text(getattr(concept, "name", None))
            labels = {code.id: _text(code.name) or code.id for code in codes}
            yield component.id, ColumnDescription(label=label, labels=labels, measure="nominal" if labels else "")


def _codes(representation: Any) -> list[Any]:
    enumerated = getattr(representation, "enumerated", None)
    return [] if enumerated is None else list(enumerated)


def _text(names: Any) -> str:
    """In English, where a name has several languages; else the first."""
    said = getattr(names, "localizations", {})
    return str(said.get("en") or next(iter(said.values()), ""))
