"""Metadata of tau-ARGUS (.rda): the columns of records or of cells, and what each is.

A line a variable, with name, and place and width where the file has no separator; below it lines in angle brackets say
what it is. Source: user's manual of tau-ARGUS 4.1, sections 5.1.1 to 5.1.4.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from sluice.ground.errors import DataError
from sluice.sources.csv_source import CsvSource
from sluice.sources.fixed_width_source import FixedWidthSource
from sluice.sources.separate_reading import read_here
from sluice.sources.tabular_source import missing_file
from sluice.sources.text_encoding import encoding_of

_SIGN = re.compile(r"<\s*([A-Za-z_]+)\s*>([^<]*)")
_OF_A_FILE = ("SEPARATOR", "SAFE", "UNSAFE", "PROTECT")
_ROLES = {
    "RECODEABLE": "dimension", "RECODABLE": "dimension", "NUMERIC": "number", "FREQUENCY": "frequency",
    "MAXSCORE": "largest", "STATUS": "status", "WEIGHT": "weight", "HOLDING": "holding", "REQUEST": "request",
    "SHADOW": "shadow", "COST": "cost", "COSTVAR": "cost", "LOWERPL": "lower", "UPPERPL": "upper",
    "RECORDKEY": "key",
}  # fmt: skip
_OF_MAGNITUDES = ("CKM", "INCLUDEZEROS", "SEPARATION", "PARITY", "SCALING", "PFILE_CONT", "PFILE_SEP")  # of cell keys
_WITH_ARGUMENTS = ("TOTCODE", "CODELIST", "HIERCODELIST", "HIERLEADSTRING", "HIERLEVELS", "DECIMALS", "REQUEST",
                   "PFILE", *_OF_MAGNITUDES)  # fmt: skip
_WITHOUT_USE = ("HIERARCHICAL", "DISTANCE", "TRUNCABLE")


@dataclass
class ArgusVariable:
    """A column.

    role : dimension, number, frequency, largest, status, weight, holding, request, shadow, cost, lower, upper, key or
           other
    said : what belongs to each sign, by its name, such as TOTCODE
    """

    name: str
    line: int
    missing: tuple[str, ...] = ()
    role: str = "other"
    said: dict[str, str] = field(default_factory=dict)

    @property
    def total(self) -> str:
        """What its total is called."""
        return self.said.get("TOTCODE") or "Total"

    @property
    def decimals(self) -> int | None:
        """Of its numbers; None where nothing is said."""
        given = self.said.get("DECIMALS", "")
        return int(given) if given.isdecimal() else None


@dataclass(frozen=True)
class ArgusMetadata:
    """The columns of a file in their order.

    separator : '' where they have fixed places
    words     : of the status of cells: what stands for safe, unsafe and protected, in small letters
    """

    path: Path
    variables: tuple[ArgusVariable, ...]
    separator: str = ""
    words: Mapping[str, str] = field(default_factory=dict)

    def variable(self, name: str) -> ArgusVariable:
        """By its name, whatever its capitals. Raises DataError."""
        names = {each.name.casefold(): each for each in self.variables}
        if (found := names.get(name.casefold())) is None:
            raise DataError(
                f"{self.path}: describes no variable '{name}'.", came=name, allowed=[v.name for v in self.variables]
            )
        return found

    def of_role(self, *roles: str) -> list[ArgusVariable]:
        """The columns of a role, in their order."""
        return [each for each in self.variables if each.role in roles]

    def only(self, role: str) -> ArgusVariable | None:
        """The one column of a role. Raises DataError where there are several."""
        found = self.of_role(role)
        if len(found) > 1:
            raise DataError(f"{self.path}: line {found[1].line}: a second variable of the role {role}")
        return found[0] if found else None

    def read(self, data: Path) -> pd.DataFrame:
        """All columns of a file as text, without the blanks around a cell. Raises DataError, which names the file."""
        if not data.is_file():
            raise missing_file(data)
        names = [each.name for each in self.variables]
        if self.separator:
            source: CsvSource | FixedWidthSource = CsvSource(
                path=(str(data),), separator=self.separator, header=False, columns=tuple(names),
                encoding=encoding_of(data),
            )  # fmt: skip
        else:
            source = FixedWidthSource(path=str(data), layout=str(self.path), encoding=encoding_of(data))
        frame = pd.concat(read_here(source, names), ignore_index=True).astype(str)
        for variable in self.variables:
            if variable.role not in ("dimension", "status", "holding", "request") and self.separator != ",":
                frame[variable.name] = frame[variable.name].str.replace(",", ".", regex=False)
        return frame


def read_metadata(path: Path) -> ArgusMetadata:
    """The metadata in a file. Raises DataError, which names its line, for a sign that is not known."""
    if not path.is_file():
        raise missing_file(path)
    content = path.read_bytes()
    if len(content) > 4 << 20 or b"\0" in content:
        raise DataError(f"{path}: is not metadata of tau-ARGUS, which are a short text")
    variables: list[ArgusVariable] = []
    of_file: dict[str, str] = {}
    for number, line in enumerate(content.decode(encoding_of(path)).lstrip("\ufeff").splitlines(), start=1):
        text = line.strip()
        if not text:
            continue
        if not text.startswith("<"):
            name, *words = _words(text)
            widths = re.findall(r"\s(\d+)(?=\s|$)", text[: text.find('"')] if '"' in text else text)  # never in quotes
            told = len(widths[:1]) if "SEPARATOR" in of_file else 2  # a width alone, or a place and a width
            variables.append(ArgusVariable(name, number, tuple(words[told:])))
            continue
        for name, rest in _SIGN.findall(text):
            sign, value = name.upper(), " ".join(_words(rest)) if name.upper() != "SEPARATOR" else _separator(rest)
            if sign == "SPSS":
                raise DataError(f"{path}: line {number}: is of an SPSS file; save it as CSV, and describe that")
            if sign in _OF_A_FILE:
                of_file[sign] = value
            elif not variables:
                raise DataError(f"{path}: line {number}: <{name}> comes before the first variable")
            else:
                _take(variables[-1], sign, value, f"{path}: line {number}")
    if not variables:
        raise DataError(f"{path}: describes no variable")
    words_of = {of_file[sign].casefold(): sign.lower() for sign in ("SAFE", "UNSAFE", "PROTECT") if of_file.get(sign)}
    return ArgusMetadata(path, tuple(variables), of_file.get("SEPARATOR", ""), words_of)


def metadata_text(metadata: ArgusMetadata) -> str:
    """The file that `read_metadata` reads back, of columns with a separator."""
    lines = [f'   <SEPARATOR> "{metadata.separator}"']
    lines += [f"   <{sign.upper()}> {word}" for word, sign in metadata.words.items()]
    signs = {role: sign for sign, role in reversed(_ROLES.items()) if role != "other"}
    for each in metadata.variables:
        lines.append(" ".join([each.name, *(f'"{code}"' for code in each.missing)]))
        sign = signs.get(each.role)
        if each.role in ("shadow", "cost", "lower", "upper"):
            lines.append(f"    <NUMERIC> <{sign}>")
        elif sign is not None and each.role != "request":
            lines.append(f"    <{sign}>")
        if "HIERCODELIST" in each.said or "HIERLEVELS" in each.said:
            lines.append("    <HIERARCHICAL>")
        for name, value in each.said.items():
            lines.append(f"    <{name}> {value}" if name in ("HIERLEVELS", "DECIMALS") else f'    <{name}> "{value}"')
    return "\n".join(lines) + "\n"


def read_code_list(path: Path) -> dict[str, str]:
    """The labels in a .cdl file, by their codes: one of each a line, with a comma between. Raises DataError."""
    if not path.is_file():
        raise missing_file(path)
    labels = {}
    for number, line in enumerate(path.read_bytes().decode(encoding_of(path)).lstrip("\ufeff").splitlines(), start=1):
        code, comma, label = (part.strip() for part in line.partition(","))
        if line.strip() and not (code and comma):
            raise DataError(f"{path}: line {number}: must be a code, a comma and its label")
        if line.strip():
            labels[code] = label
    return labels


def hierarchy_of_widths(codes: Iterable[str], widths: Sequence[int], total: str, where: str) -> list[tuple[str, str]]:
    """(code, parent) of codes whose first signs are those of their parents: <HIERLEVELS> 3 1 1.

    raises : DataError for a code that ends within a level
    """
    ends = [sum(widths[: at + 1]) for at, width in enumerate(widths) if width]
    rows: dict[str, str] = {total: ""}
    for code in sorted(set(codes) - {total, ""}):
        if len(code) not in ends:
            raise DataError(
                f"{where}: a code has {len(code)} signs; by <HIERLEVELS> it may have {', '.join(map(str, ends))}"
            )
        parent = total
        for end in ends:
            if end > len(code):
                break
            rows.setdefault(code[:end], parent)
            parent = code[:end]
    return list(rows.items())


def _take(variable: ArgusVariable, sign: str, value: str, where: str) -> None:
    if sign in _ROLES:
        role = _ROLES[sign]
        if role != "number" or variable.role == "other":  # <NUMERIC> beside <SHADOW>
            variable.role = role
    if sign in _WITH_ARGUMENTS:
        variable.said[sign] = value
    elif sign not in _ROLES and sign not in _WITHOUT_USE:
        raise DataError(f"{where}: <{sign}> is not known, so what it asks cannot be done")


def _words(text: str) -> list[str]:
    return [(quoted or plain).strip() for quoted, plain in re.findall(r'"([^"]*)"|(\S+)', text)]


def _separator(rest: str) -> str:
    given = rest.strip()
    sign = given[1:-1] if len(given) > 2 and given[0] == given[-1] == '"' else given.strip('"')
    return {"\\t": "\t", "tab": "\t", "": ","}.get(sign.casefold(), sign)
