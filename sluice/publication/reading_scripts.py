"""Scripts that read a published CSV file of records as it was meant: in R, Python and Stata, without any package beyond
pandas.

Only an empty cell is missing, categories are categories in the order of the contract (numbers without one rise),
ordered where they are, and no code such as 01 becomes a number. Names, categories and labels are written as texts of
each language, so that nothing in them can run.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping

from sluice.ground.variables import Kind
from sluice.publication.codebook import Codebook, CodebookVariable
from sluice.publication.copies import COPIES
from sluice.publication.copies.statistics_file import codes, value_labels

SCRIPTS = ("read.R", "read.py", "read.do")


def reading_scripts(book: Codebook, escaped: bool = False) -> dict[str, bytes]:
    """Name -> the script, UTF-8; none where there is no CSV file.

    escaped : whether texts are in the form that spreadsheets show; the scripts undo it
    """
    if book.csv is None:
        return {}
    written: Iterable[Callable[[Codebook, str, bool], str]] = (_r, _python, _stata)
    return {name: write(book, book.csv, escaped).encode() for name, write in zip(SCRIPTS, written, strict=True)}


def _categories(each: CodebookVariable) -> list[str] | None:
    """Declared ones in their order, or those that records have; None: its values are no categories.

    Whole numbers without an order of the contract rise: a draft lists them as they are frequent.
    """
    variable = each.variable
    if not variable.kind.is_categorical or variable.kind is Kind.ITEMS:
        return None
    found = list(variable.categories or each.counts or ())
    if variable.kind is not Kind.ORDINAL and all(re.fullmatch(r"-?[0-9]+", code) for code in found):
        found.sort(key=int)
    return found or None


def _labels(each: CodebookVariable, categories: list[str]) -> dict[str, str]:
    return {code: each.variable.labels[code] for code in categories if code in each.variable.labels}


_R = """\
# Reads {file} into the data frame `records`, in R 3.5 and later, without any package.
#
#     source("read.R")                 # in the folder; elsewhere set `folder` first
#
# Categories are factors with their codes as levels, ordered where the categories are; `labels` has the meaning of
# each code: levels(records$x) <- labels$x[levels(records$x)]. Only an empty cell is missing (NA).
if (!exists("folder")) folder <- "."
records <- read.csv(
  file.path(folder, {quoted}), colClasses = "character", na.strings = "", check.names = FALSE,
  fileEncoding = "UTF-8", comment.char = "", quote = "\\"", strip.white = FALSE
)
names(records) <- c({names})
{unescape}labels <- list()
"""
_R_UNESCAPE = """\
records[] <- lapply(records, function(x)
  gsub("(^|[;|\\t\\r\\n])'(?=\\\\s*[=+@\\uff1d\\uff0b\\uff0d\\uff20-]|[\\t\\r\\n]|')", "\\\\1", x, perl = TRUE))
"""


def _r(book: Codebook, file: str, escaped: bool) -> str:
    names = ", ".join(_in_r(each.variable.name) for each in book.variables)
    lines = [_R.format(file=_comment(file), quoted=_in_r(file), names=names, unescape=_R_UNESCAPE if escaped else "")]
    for each in book.variables:
        name, kind = _in_r(each.variable.name), each.variable.kind
        of = f"records[[{name}]]"
        if kind.is_numeric:
            lines.append(f"{of} <- as.numeric({of})\n")
        elif kind is Kind.DATE and each.with_time:
            lines.append(f'{of} <- as.POSIXct(sub("T", " ", {of}), format = "%Y-%m-%d %H:%M:%OS", tz = "UTC")\n')
        elif kind is Kind.DATE:
            lines.append(f"{of} <- as.Date({of})\n")
        elif (categories := _categories(each)) is not None:
            ordered = "TRUE" if kind is Kind.ORDINAL else "FALSE"
            lines.append(
                f"{of} <- factor({of}, levels = c({', '.join(map(_in_r, categories))}), ordered = {ordered})\n"
            )
            if labels := _labels(each, categories):
                said = ", ".join(f"{_in_r(labels.get(code, code))}" for code in categories)
                lines.append(f"labels[[{name}]] <- setNames(c({said}), c({', '.join(map(_in_r, categories))}))\n")
        if each.variable.description:
            lines.append(f'attr({of}, "label") <- {_in_r(each.variable.description)}\n')
    return "".join(lines)


def _in_r(text: str) -> str:
    """A string of R. It knows no surrogates, so that a character beyond the first plane has eight digits."""
    plain = json.dumps(text, ensure_ascii=False)
    return "".join(
        letter if " " <= letter <= "~" else f"\\U{ord(letter):08x}" if ord(letter) > 0xFFFF else f"\\u{ord(letter):04x}"
        for letter in plain
    )


_PYTHON = '''\
"""Reads {file} into a data frame: `from read import records, LABELS`, or run it in the folder.

Categories are categorical with their codes, ordered where they are; LABELS has the meaning of each code:
records["x"].cat.rename_categories(LABELS["x"]). Only an empty cell is missing.
"""

from pathlib import Path
{imports}
import pandas as pd

NAMES = {names}
NUMBERS = {numbers}
WHOLE = {whole}
DATES = {dates}
CATEGORIES = {categories}
ORDERED = {ordered}
LABELS = {labels}


def read(folder=Path(__file__).parent):
    """The records of the folder."""
    frame = pd.read_csv(
        Path(folder) / {quoted}, header=0, names=NAMES, dtype="string", keep_default_na=False, na_values=[""]
    )
{unescape}    for name in NUMBERS:
        frame[name] = pd.to_numeric(frame[name]).astype("float64")
    for name in WHOLE:
        frame[name] = frame[name].astype("Int64")
    for name in DATES:
        frame[name] = pd.to_datetime(frame[name], format="ISO8601")
    for name, categories in CATEGORIES.items():
        frame[name] = pd.Categorical(frame[name], categories, ordered=name in ORDERED)
    return frame


records = read()
'''
_PYTHON_UNESCAPE = r"""
    quoted = re.compile("(^|[;|\t\r\n])'(?=\\s*[=+@\uff1d\uff0b\uff0d\uff20-]|[\t\r\n]|')")
    frame = frame.map(lambda text: quoted.sub(r"\1", text), na_action="ignore")
"""[1:]


def _python(book: Codebook, file: str, escaped: bool) -> str:
    of = {each.variable.name: each for each in book.variables}
    categories = {name: listed for name, each in of.items() if (listed := _categories(each)) is not None}

    def names(*kinds: Kind) -> str:
        return _in_python([name for name, each in of.items() if each.variable.kind in kinds])

    return _PYTHON.format(
        file=_comment(file),
        quoted=_in_python(file),
        imports="import re\n" if escaped else "",
        unescape=_PYTHON_UNESCAPE if escaped else "",
        names=_in_python([*of]),
        numbers=names(Kind.CONTINUOUS),
        whole=names(Kind.INTEGER),
        dates=names(Kind.DATE),
        categories=_in_python(categories),
        ordered=names(Kind.ORDINAL),
        labels=_in_python({name: found for name in categories if (found := _labels(of[name], categories[name]))}),
    )


def _in_python(value: object) -> str:
    return json.dumps(value, indent=4 if isinstance(value, Mapping) and value else None)


_STATA = """\
* Reads {file} into memory, in Stata 14 and later: run it in the folder.
* Categories are labelled numbers, texts that no list of categories knows stay texts; an empty cell is missing.
version 14
import delimited using {quoted}, varnames(nonames) rowrange(2) stringcols(_all) bindquote(strict) ///
    maxquotedrows(unlimited) encoding("utf-8") clear
"""


def _stata(book: Codebook, file: str, escaped: bool) -> str:
    stata = COPIES["stata"]
    names = stata.names_for([each.variable.name for each in book.variables])
    lines = [_STATA.format(file=_comment(file), quoted=_in_stata(file))]
    for place, each in enumerate(book.variables, start=1):
        variable, column, name = each.variable, f"v{place}", names[each.variable.name]
        categories = _categories(each)
        known = variable.model_copy(update={"categories": tuple(categories) if categories else None})
        if escaped and not variable.kind.is_numeric and variable.kind is not Kind.DATE:
            lines.append(f'quietly replace {column} = ustrregexra({column}, "(^|[;|])\'(?=[=+@\'-])", "$1")\n')
        said = value_labels(known)
        lines += [f"label define l{place} {number} {_in_stata(text)}, add\n" for number, text in said.items()]
        if (numbers := codes(known)) is not None:
            lines.append(f"quietly generate long x{place} = .\n")
            lines += [
                f"quietly replace x{place} = {number} if {column} == {_in_stata(code)}\n"
                for code, number in numbers.items()
            ]
            lines.append(f"drop {column}\nrename x{place} {name}\n")
        elif variable.kind.is_numeric:
            lines.append(f"quietly destring {column}, replace\nrename {column} {name}\n")
        elif variable.kind is Kind.DATE:
            mask, form, kind = ("YMDhms", "%tc", "double") if each.with_time else ("YMD", "%td", "long")
            read = "clock" if each.with_time else "date"
            text = f'subinstr({column}, "T", " ", 1)'
            lines.append(
                f'quietly generate {kind} x{place} = {read}({text}, "{mask}")\nformat x{place} {form}\n'
                f"drop {column}\nrename x{place} {name}\n"
            )
        else:
            lines.append(f"rename {column} {name}\n")
        lines += [f"label values {name} l{place}\n"] if said else []
        lines.append(f"label variable {name} {_in_stata(stata.label_of(variable))}\n")
    lines.append(f"order {' '.join(names.values())}\n")
    return "".join(lines)


def _in_stata(text: str) -> str:
    """A compound string, in which quotes may stand; macros do not expand, and line ends are blanks."""
    plain = re.sub(r"\s", " ", text).replace("\\", "\\\\").replace("`", "\\`").replace("$", "\\$")
    return f'`"{plain}"\''


def _comment(text: str) -> str:
    """A text as a comment holds it: on one line, and nothing that ends it."""
    return re.sub(r"[^\w .,()-]", "_", text)
