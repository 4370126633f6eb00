"""Batch files of tau-ARGUS (.arb), read into what they ask: data, tables, rules, methods and files to write.

A line has a word in angle brackets and what belongs to it; // begins a comment. A batch may have several sessions,
each of which begins with <CLEAR>. Nothing is guessed: what is not understood, or cannot be had here, is a problem, and
all problems are named with their lines. What is done otherwise than tau-ARGUS does it is a remark. Source: user's
manual of tau-ARGUS 4.1, section 5.7; for what it leaves open, the program's source, version 4.2.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sluice.ground.errors import DataError
from sluice.sources.tabular_source import missing_file

_LINE = re.compile(r"<\s*([A-Za-z]+)\s*>\s*(.*)")
_NUMBER = r"\d{1,9}(?:\.\d{1,9})?"
_RULE = re.compile(r"([A-Za-z]+)\s*\(([^()]*)\)")
_METHOD = re.compile(r"([A-Za-z]+)\s*\(\s*(\d{1,4})\s*((?:,[^,()]*)*)\)\s*(.*)")
_WRITE = re.compile(r'\(\s*(\d{1,4})\s*,\s*(\d{1,2})\s*,([^,"]*),\s*(?:"([^"]+)"|([^",()]+?))\s*\)\s*')
_A_PRIORI = re.compile(r'"([^"]+)"\s*,\s*(\d{1,4})\s*,\s*"([^"]{1,2})"\s*(?:,\s*([01]?)\s*)?(?:,\s*([01]?)\s*)?')
_RECODE = re.compile(r'(\d{1,4})\s*,\s*(?:"([^"]+)"|([^",]+?))\s*,\s*(?:"([^"]+)"|(\S+))')
_OPTION = re.compile(r"([A-Za-z]{2})\s*([+-])\s*")

_FREQUENCY = ("<freq>", "freq", "<frequency>")
_COSTS = {  # what may stand in place of a cost variable, and what is kept small then
    **dict.fromkeys(("<freq>", "freq", "-1"), "contributors"),
    **dict.fromkeys(("<unit>", "<unity>", "unity", "-2"), "cells"),
}
_NOT_HERE = {
    "COVER": "it is a word of tau-ARGUS' own batches for linked tables; ask for all tables at once: MOD(0)",
    "JJ": "a batch protects tables; `sluice table audit FILE.jj` audits such a problem",
}
_NOTHING_TO_DO = {
    "SOLVER": "Sluice has its own solver",
    "GOINTERACTIVE": "there is no window; the batch ends here",
    "ANCO": "it changes tau-ARGUS' window alone",
    "COMMENT": "",
}
FORMATS = {1: "CSV", 2: "pivot table", 3: "code and value", 4: "SBS", 5: "intermediate", 6: "JJ"}
_OPTIONS = {  # by format, what is written as asked
    1: ("QU",), 2: ("AS", "QU", "SE", "FL"), 3: ("AS", "QU", "SE", "FL"), 4: ("HL", "QU", "AS", "SE"),
    5: ("QU", "SE"), 6: (),
}  # fmt: skip
_KNOWN_OPTIONS = {"AR", "AS", "FL", "HI", "HL", "QU", "SE", "SO", "TR", "AO", "AD", "AC"}


@dataclass(frozen=True)
class Remark:
    """What a line asks that is done otherwise, or not at all."""

    line: int
    says: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.says}"


@dataclass(frozen=True)
class FileToWrite:
    """One table in one of the formats."""

    line: int
    kind: int
    options: frozenset[str]  # those switched on
    path: str


@dataclass(frozen=True)
class FileOfRequests:
    """An a-priori file of one table."""

    line: int
    path: str
    separator: str
    ignore_errors: bool
    expand_trivial: bool


@dataclass(frozen=True)
class Recode:
    """A variable that is recoded: by a file, or to so many levels below the total of its hierarchy."""

    line: int
    variable: str
    path: str = ""
    level: int = 0


@dataclass
class BatchTable:
    """One <SPECIFYTABLE> with all that is said of it.

    response    : '' where contributors are counted
    cost        : by name (sluice.tabular.suppression.costs), or '' for a column
    cost_column : '' where the cost has a name
    rules       : as a policy has them
    coalition   : contributors who pool what they know
    holding     : the rules look at holdings
    weight      : contributions are weighted
    margin      : percent of protection for a cell that only a person calls sensitive
    method      : as `protection` in a definition has it; None where the table is not protected
    known_within: percent, see `TableAttackers`
    linked      : protected together with all tables of the session
    """

    line: int
    dimensions: tuple[str, ...]
    response: str = ""
    shadow: str = ""
    cost: str = "value"
    cost_column: str = ""
    rules: list[dict[str, Any]] = field(default_factory=list)
    coalition: int = 1
    holding: bool = False
    weight: bool = False
    asks: bool = False
    margin: float | None = None
    method: dict[str, Any] | None = None
    known_within: float | None = None
    linked: bool = False
    requests: list[FileOfRequests] = field(default_factory=list)
    files: list[FileToWrite] = field(default_factory=list)

    @property
    def key(self) -> tuple[Any, ...]:
        """What tables that are protected together have in common."""
        return (
            self.response, self.cost, self.cost_column, sorted(map(str, self.rules)), self.coalition, self.holding,
            self.weight, self.margin, str(self.method), self.known_within,
        )  # fmt: skip


@dataclass
class Session:
    """The data, and the tables that are made of them."""

    data: str = ""
    metadata: str = ""
    added_up: bool = False  # cells, not records
    line: int = 0
    tables: list[BatchTable] = field(default_factory=list)
    recodings: list[Recode] = field(default_factory=list)


@dataclass(frozen=True)
class Batch:
    """All sessions, with the remarks; and the files that get what was said and the version, '' for none."""

    sessions: tuple[Session, ...]
    remarks: tuple[Remark, ...]
    logbook: str = ""
    version_info: str = ""


def read_batch(path: Path) -> Batch:
    """The batch in a file. Raises DataError with every line that is not understood or cannot be had: then nothing of
    it is done."""
    if not path.is_file():
        raise missing_file(path)
    content = path.read_bytes()
    if len(content) > 1 << 20 or b"\0" in content:
        raise DataError(f"{path}: is not a batch of tau-ARGUS, which is a short text")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("cp1252", errors="replace")
    reader = _Reader()
    for number, line in enumerate(text.splitlines(), start=1):
        reader.read(number, line)
    reader.end()
    if reader.problems:
        problems = sorted(reader.problems, key=lambda each: each.line)
        told = [*map(str, problems[:_MOST_TOLD])]
        told += [f"and {len(problems) - _MOST_TOLD:,} more"] if len(problems) > _MOST_TOLD else []
        raise DataError(f"{path}: nothing was done. {'. '.join(told)}")
    return Batch(tuple(reader.sessions), tuple(reader.remarks), reader.logbook, reader.version_info)


class _Reader:
    """What was read so far, and what is wrong with it."""

    def __init__(self) -> None:
        self.sessions = [Session()]
        self.problems: list[Remark] = []
        self.remarks: list[Remark] = []
        self.logbook = self.version_info = ""

    def read(self, number: int, line: str) -> None:
        said = _without_comment(line).strip()
        if not said:
            return
        found = _LINE.fullmatch(said)
        if found is None:
            self._wrong(number, "a line begins with a word in angle brackets, such as <SUPPRESS>")
            return
        word, rest = found[1].upper().replace("APRIORY", "APRIORI"), found[2].strip()
        if word in _NOT_HERE:
            self._wrong(number, f"<{word}> is not here: {_NOT_HERE[word]}")
        elif word in _NOTHING_TO_DO:
            if _NOTHING_TO_DO[word]:
                self._remark(number, f"<{word}> changes nothing: {_NOTHING_TO_DO[word]}")
        elif (read := getattr(self, f"_{word.lower()}", None)) is not None and word.lower() in _WORDS:
            try:
                read(number, rest)
            except _NotUnderstoodError as error:
                self._wrong(number, f"<{word}> {error}")
        else:
            self._wrong(number, f"<{word}> is not a word of a batch")

    def end(self) -> None:
        """What only shows when all lines are read."""
        self.sessions = [each for each in self.sessions if each.data or each.tables]
        if not self.sessions:
            self._wrong(1, "the batch opens no data: <OPENMICRODATA> or <OPENTABLEDATA>")
        for session in self.sessions:
            if not session.metadata:
                self._wrong(session.line, "the data have no <OPENMETADATA>")
            for at, table in enumerate(session.tables, start=1):
                if table.files and table.method is None:
                    first = table.files[0].line
                    self._wrong(
                        first, f"table {at} is written without <SUPPRESS>: its sensitive cells can be worked out"
                    )
            for one, other in _protected_together(session):
                if one.key != other.key:
                    self._wrong(
                        other.line,
                        f"a table of the measure of the one of line {one.line} shares cells with it, and both are "
                        "protected together: they need the same rules, cost and method",
                    )

    def _wrong(self, line: int, says: str) -> None:
        self.problems.append(Remark(line, says))

    def _remark(self, line: int, says: str) -> None:
        self.remarks.append(Remark(line, says))

    @property
    def _session(self) -> Session:
        return self.sessions[-1]

    def _table(self, number: str) -> BatchTable:
        tables = self._session.tables
        if not 1 <= int(number) <= len(tables):
            raise _NotUnderstoodError(f"names table {number}, and there are {len(tables)} so far")
        return tables[int(number) - 1]

    def _openmicrodata(self, line: int, rest: str, added_up: bool = False) -> None:
        if self._session.data and self._session.tables:
            self.sessions.append(Session())  # a new table of cells goes without <CLEAR>
        elif self._session.data:
            raise _NotUnderstoodError("opens data, and those of before have no table")
        session = self._session
        session.data, session.added_up, session.line = _quoted(rest), added_up, line

    def _opentabledata(self, line: int, rest: str) -> None:
        self._openmicrodata(line, rest, added_up=True)

    def _openmetadata(self, line: int, rest: str) -> None:
        if not self._session.data or self._session.metadata:
            raise _NotUnderstoodError("belongs after <OPENMICRODATA> or <OPENTABLEDATA>, once")
        self._session.metadata = _quoted(rest)

    def _clear(self, line: int, rest: str) -> None:
        self.sessions.append(Session())

    def _logbook(self, line: int, rest: str) -> None:
        self.logbook = _quoted(rest)

    def _versioninfo(self, line: int, rest: str) -> None:
        self.version_info = _quoted(rest)

    def _readmicrodata(self, line: int, rest: str) -> None:
        if not self._session.tables or self._session.added_up:
            raise _NotUnderstoodError("reads records: <OPENMICRODATA> and a table come before it")

    def _readtable(self, line: int, rest: str) -> None:
        if not self._session.tables or not self._session.added_up:
            raise _NotUnderstoodError("reads cells: <OPENTABLEDATA> and a table come before it")
        if rest not in ("", "0", "1", "2", "1T"):
            raise _NotUnderstoodError(f"takes 0, 1 or 2; got '{rest}'")
        if rest not in ("", "0"):
            self._remark(line, "totals are not computed: the file must hold them, with what the rules need")

    def _specifytable(self, line: int, rest: str) -> None:
        if not self._session.metadata:
            raise _NotUnderstoodError("belongs after <OPENMETADATA>")
        parts = _split(rest, "|")
        names = tuple(re.findall(r'"([^"]+)"', parts[0]))
        if not names or re.sub(r'"[^"]+"', "", parts[0]).strip() or len(set(names)) < len(names):
            raise _NotUnderstoodError('takes the names of its dimensions, each once in quotes, such as "nace""region"')
        if not 2 <= len(parts) <= 5:
            raise _NotUnderstoodError("takes dimensions|response|shadow|cost|lambda")
        response, shadow, cost, power = (_bare(each) for each in [*parts[1:], "", "", ""][:4])
        if not response:
            raise _NotUnderstoodError("names no response; <freq> counts contributors")
        written = parts[1].strip()
        counts = response.casefold() in _FREQUENCY and not written.startswith('"')  # "freq" may be a variable's name
        table = BatchTable(line, names, "" if counts else response, shadow)
        if cost.casefold() in _COSTS:
            table.cost = _COSTS[cost.casefold()]
        elif cost.casefold() in ("-3", "<distance>", "distance"):
            self._remark(line, "the distance as cost is not here; the value of a cell is its cost")
        elif cost and cost != response:
            table.cost, table.cost_column = "", cost
        if power not in ("", "1", "1.0"):
            self._remark(line, f"the power {power} of the cost is not here; costs are as they stand")
        self._session.tables.append(table)

    def _safetyrule(self, line: int, rest: str) -> None:
        if not self._session.tables:
            raise _NotUnderstoodError("belongs after <SPECIFYTABLE>")
        table = self._session.tables[-1]
        counted = dict.fromkeys(("P", "NK", "FREQ", "REQ"), 0)
        for part in (each.strip() for each in _split(rest, "|")):
            if not part:
                continue
            found = _RULE.fullmatch(part)
            if found is None:
                raise _NotUnderstoodError(f"has '{part}'; a rule has its numbers in brackets")
            name, numbers = found[1].upper(), [each.strip() for each in found[2].split(",")]
            if not all(re.fullmatch(_NUMBER, each) for each in numbers):
                raise _NotUnderstoodError(f"has '{part}', with numbers that cannot be read")
            self._rule(line, table, name, [float(each) for each in numbers], counted)
        if table.holding:
            self._remark(
                line,
                "rules for holdings and for their members are all asked of holdings, which calls as many cells "
                "sensitive or more",
            )

    def _rule(self, line: int, table: BatchTable, name: str, numbers: Sequence[float], counted: dict[str, int]) -> None:
        least, most = {
            "P": (1, 3), "NK": (2, 2), "FREQ": (1, 2), "ZERO": (1, 1), "REQ": (2, 4), "WGT": (1, 1), "MIS": (1, 1),
            "MAN": (1, 1),
        }.get(name, (0, 0))  # fmt: skip
        if not most:
            raise _NotUnderstoodError(f"has the rule {name}, which is not known")
        if not least <= len(numbers) <= most:
            raise _NotUnderstoodError(f"has {name} with {len(numbers)} numbers; it takes {least} to {most}")
        first = numbers[0]
        if name in counted:
            own, of_holdings = {"P": (2, 2), "NK": (2, 2), "FREQ": (1, 1), "REQ": (1, 1)}[name]
            counted[name] += 1
            if counted[name] > own + of_holdings:
                raise _NotUnderstoodError(f"has {name} more than {own + of_holdings} times")
            if not first or (name == "NK" and not numbers[1]):
                return  # 0 is no rule
            table.holding |= counted[name] > own
        if name == "P":
            pooled = int(numbers[-1]) if len(numbers) > 1 else 1
            if not 1 <= pooled <= _MOST_POOLED:
                raise _NotUnderstoodError(f"has a coalition of {pooled} in P; it may be of 1 to {_MOST_POOLED}")
            if pooled > _MOST_ATTACKERS:
                self._remark(
                    line, f"P counts with {pooled} who pool what they know; the audit plays {_MOST_ATTACKERS} of them"
                )
            table.coalition = min(max(table.coalition, pooled), _MOST_ATTACKERS)
            rule = {"rule": "p_percent", "p": first, "coalition": pooled}
            if len(numbers) == 3 and numbers[1] != 100:
                rule = {"rule": "prior_posterior", "p": first, "q": numbers[1], "coalition": pooled}
            table.rules.append(rule)
        elif name == "NK":
            table.rules.append({"rule": "dominance", "n": int(first), "k": numbers[1]})
        elif name == "FREQ":
            if first >= 2:
                table.rules.append({"rule": "minimum_frequency", "n": int(first)})
            if len(numbers) > 1 and numbers[1]:
                self._remark(line, "the range of FREQ is not asked for: a share of the largest contribution is")
        elif name == "ZERO":
            table.rules.append({"rule": "zero_cells"})
        elif name == "REQ":
            if len(numbers) == 4 and numbers[2]:
                raise _NotUnderstoodError("has a minimum frequency in REQ, which is not here; give a rule FREQ")
            rule = {"rule": "request_rule", "k": max(numbers[:2])}
            table.rules.append(rule | ({"k_before": min(numbers[:2])} if numbers[1] else {}))
            table.asks = True
        elif name == "WGT":
            table.weight = bool(first)
        elif name == "MIS" and first:
            self._remark(line, "cells of a missing code are judged as all others are; MIS(1) would call them safe")
        elif name == "MAN":
            table.margin = first

    def _recode(self, line: int, rest: str) -> None:
        found = _RECODE.fullmatch(rest)
        if found is None:
            raise _NotUnderstoodError('takes table, variable and a file or a level, such as 1, Size, "size.grc"')
        table, variable = self._table(found[1]), (found[2] or found[3]).strip()
        if variable.casefold() not in map(str.casefold, table.dimensions):
            raise _NotUnderstoodError(f"names '{variable}', and table {found[1]} does not have it")
        said = found[4] or found[5]
        level = int(said) if re.fullmatch(r"[1-9]", said) and not found[4] else 0
        self._session.recodings.append(Recode(line, variable, "" if level else said, level))
        if len(self._session.tables) > 1:
            self._remark(line, f"'{variable}' is recoded in all tables of these data")

    def _apriori(self, line: int, rest: str) -> None:
        found = _A_PRIORI.fullmatch(rest)
        if found is None:
            raise _NotUnderstoodError('takes "file",table,"separator",ignore errors (0 or 1),expand trivial (0 or 1)')
        path, number, separator, ignore, expand = found.groups()
        separator = "\t" if separator == "\\t" else separator
        table = self._table(number)
        table.requests.append(FileOfRequests(line, path, separator, ignore == "1", expand == "1"))

    def _suppress(self, line: int, rest: str) -> None:
        found = _METHOD.fullmatch(rest)
        if found is None or found[4]:
            raise _NotUnderstoodError(f"takes a method with the number of a table, such as MOD(1); got '{rest}'")
        name, number, more = found[1].upper(), found[2], [each.strip() for each in found[3].split(",")[1:]]
        if not all(re.fullmatch(rf"(?:{_NUMBER})?", each) for each in more):
            raise _NotUnderstoodError(f"has '{rest}', with numbers that cannot be read")
        tables = self._session.tables if int(number) == 0 else [self._table(number)]
        if int(number) == 0 and name not in ("GH", "MOD"):
            raise _NotUnderstoodError(f"protects linked tables (0) by GH or MOD; got {name}")
        if not tables:
            raise _NotUnderstoodError("belongs after <SPECIFYTABLE>")
        if int(number) == 0 and self._session.added_up and len(tables) > 1:
            raise _NotUnderstoodError("has linked tables of cells that are added up, which need their records")
        method, known = self._method(line, name, more, tables)
        for table in tables:
            table.method, table.linked = method, table.linked or int(number) == 0
            table.known_within = known

    def _method(
        self, line: int, name: str, more: Sequence[str], tables: Sequence[BatchTable]
    ) -> tuple[dict[str, Any], float | None]:
        numbers = [float(each) if each else None for each in more]
        first = numbers[0] if numbers else None
        if name in ("GH", "MOD", "NET"):
            self._remark(
                line, f"{name} is the fast search here, and another algorithm; singletons are always protected"
            )
            known = first if name == "GH" and first and first < 100 else None
            return {"method": "suppression", "mode": "fast"}, known
        if name == "OPT":
            if first:
                self._remark(line, f"OPT has {60 * first:g} seconds; a safe pattern is found in any case")
            return {"method": "suppression", "mode": "optimise"} | ({"seconds": 60 * first} if first else {}), None
        if name == "RND":
            if first is None or first < 2 or first != int(first):
                raise _NotUnderstoodError("has RND without a base of 2 or more")
            if any(numbers[1:]):
                self._remark(line, "steps, time, partitions and stopping rule of RND are not asked for")
            return {"method": "controlled_rounding", "base": int(first)}, None
        if name == "CTA":
            return {"method": "controlled_adjustment"}, None
        if name == "CKM":
            if any(table.response for table in tables):
                raise _NotUnderstoodError("has CKM for a response; cell keys are for counts here (<freq>)")
            return {"method": "cell_key"}, None
        raise _NotUnderstoodError(f"has the method {name}, which is not known")

    def _writetable(self, line: int, rest: str) -> None:
        found = _WRITE.fullmatch(rest)
        if found is None:
            raise _NotUnderstoodError('takes (table,format,options,"file"), such as (1,3,AS-,"safe.txt")')
        kind, written = int(found[2]), found[3].strip()
        if kind not in FORMATS:
            known = ", ".join(f"{number} {name}" for number, name in FORMATS.items())
            raise _NotUnderstoodError(f"has the format {kind}; it may be {known}")
        options = _OPTION.findall(written)
        if _OPTION.sub("", written):
            raise _NotUnderstoodError(f"has the options '{written}'; each is two letters with + or -")
        for name, sign in ((name.upper(), sign) for name, sign in options):
            if name not in _KNOWN_OPTIONS:
                raise _NotUnderstoodError(f"has the option {name}, which is not known")
            if sign == "+" and name not in _OPTIONS[kind]:
                self._remark(line, f"the option {name}+ changes nothing in the format {kind} ({FORMATS[kind]})")
        off = {name.upper() for name, sign in options if sign == "-"}
        on = {name.upper() for name, sign in options if sign == "+"} | ({"QU", *(["FL"] if kind == 2 else [])} - off)
        self._table(found[1]).files.append(FileToWrite(line, kind, frozenset(on), found[4] or found[5].strip()))


_MOST_POOLED = 8  # by the rule; further contributions of a cell are hardly ever of use to it
_MOST_ATTACKERS = 3  # who pool their own parts in the audit
_MOST_TOLD = 40  # problems: a file of another kind has one in each line
_WORDS = frozenset(
    ("openmicrodata", "opentabledata", "openmetadata", "clear", "logbook", "versioninfo", "readmicrodata", "readtable",
     "specifytable", "safetyrule", "recode", "apriori", "suppress", "writetable")
)  # fmt: skip


class _NotUnderstoodError(Exception):
    """Of one line; goes on after its word."""


def _protected_together(session: Session) -> Iterator[tuple[BatchTable, BatchTable]]:
    """The first table of each measure, and another of it."""
    first: dict[str, BatchTable] = {}
    for table in (each for each in session.tables if each.method is not None and not session.added_up):
        one = first.setdefault(table.response, table)
        if one is not table:
            yield one, table


def _without_comment(line: str) -> str:
    """The line up to // outside quotes."""
    return re.sub(r'("[^"]*")|//.*', lambda found: found[1] or "", line)


def _split(text: str, sign: str) -> list[str]:
    """At a sign outside quotes."""
    return [part.strip() for part in re.split(rf'{re.escape(sign)}(?=(?:[^"]*"[^"]*")*[^"]*$)', text)]


def _bare(text: str) -> str:
    return text.strip().strip('"').strip()


def _quoted(text: str) -> str:
    """A name of a file, in quotes or alone."""
    name = _bare(text)
    if not name or '"' in name:
        raise _NotUnderstoodError("names one file, in quotes")
    return name
