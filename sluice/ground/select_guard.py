"""What of a definition's SQL is let through to a database: one select over tables, and nothing that does more.

A query is written by whoever submits a release, and the account that reads for Sluice can reach more than that person:
databases read files, environments and other databases by functions, and some end one statement to begin another. So a
query is taken apart before the database sees it, and each of its parts must be among those that are known to compute
with the records of tables and to do nothing else. The database gets none of the text, but one that is written anew from
these parts, with names in quotes: so it cannot read another query in it than the one that was looked at. That a
connection can only read is another wall, behind this one.
"""

import re
from collections.abc import Callable, Iterator, Sequence

import sqlglot
from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError

from sluice.ground.errors import DataError
from sluice.ground.readable_tables import folded, same_name

QUERYABLE = ("duckdb", "sqlite", "postgresql")
"""Databases of which it was tried that they read a definition's query as the guard does."""

_DIALECTS = {"postgresql": "postgres"}  # as sqlglot calls those that it calls otherwise
_MOST = 20_000  # characters of a query

# Where databases take one text apart in different ways (comments that nest, quotes with escapes or dollars, text after
# a semicolon), one parser may see a harmless word where another sees the end of it. So none of it is let through.
_WHOLE = re.compile(r"""(?:[^'"\\$`;#\x00-\x08\x0b\x0c\x0e-\x1f\x7f-]|'[^'\\\x00]*'|"[^"\\\x00]*"|-(?!-))*""")
_QUOTED = re.compile(r"""'[^']*'|"[^"]*\"""")
_PREFIX = re.compile(r"(?<![A-Za-z0-9_])(?:[ebnrux]|u&)$", re.IGNORECASE)  # of a quote with escapes: E'..', U&'..'

_NAME = re.compile(r"[^\W\d][\w -]*")  # of a table; a path, a pattern and an address hold other characters
_CATALOGUE = re.compile(r"(?:pg|sqlite|duckdb|pragma)_|information_schema$", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z_]{1,40}")  # that is written without quotes: 'year' in extract(year FROM day)

_PARTS = {
    # the structure of a select
    "Select", "Union", "Intersect", "Except", "Subquery", "With", "CTE", "Values", "Tuple", "From", "Join", "Where",
    "Group", "Having", "Qualify", "Order", "Ordered", "Limit", "Offset", "Distinct", "Window", "WindowSpec", "Filter",
    "WithinGroup", "Table", "TableAlias", "Alias", "Column", "Identifier", "Star", "Literal", "Null", "Boolean",
    "Paren", "Interval", "Var", "DataType", "DataTypeParam",
    # comparison, logic, arithmetic
    "And", "Or", "Xor", "Not", "EQ", "NEQ", "GT", "GTE", "LT", "LTE", "Is", "Like", "ILike", "Escape", "NullSafeEQ",
    "NullSafeNEQ", "Between", "In", "Any", "All", "Exists", "Add", "Sub", "Mul", "Div", "IntDiv", "Mod", "Neg", "DPipe",
    "Abs", "Round", "Floor", "Ceil", "Sign", "Sqrt", "Exp", "Ln", "Log", "Pow", "Greatest", "Least",
    "Cast", "TryCast", "Case", "If", "Coalesce", "Nullif", "Array", "Bracket",
    # texts and dates
    "Upper", "Lower", "Trim", "Substring", "Left", "Right", "Length", "Concat", "ConcatWs", "Replace", "StrPosition",
    "Pad", "Initcap", "Extract", "DateTrunc", "TimestampTrunc", "Year", "Month", "Day", "Quarter", "Week", "DayOfWeek",
    "DayOfYear", "DateAdd", "DateSub", "DateDiff", "Date", "TsOrDsToDate", "TsOrDsToTimestamp", "TimeToStr",
    # aggregates and windows
    "Count", "CountIf", "Sum", "Avg", "Min", "Max", "Median", "Stddev", "StddevPop", "StddevSamp", "Variance",
    "VariancePop", "Quantile", "PercentileCont", "PercentileDisc", "LogicalAnd", "LogicalOr", "RowNumber", "Rank",
    "DenseRank", "Ntile", "Lag", "Lead", "FirstValue", "LastValue", "PercentRank", "CumeDist",
}  # fmt: skip


def guarded_query(query: str, backend: str, schema: str = "") -> str:
    """The query as the database is to read it, if it is one select over tables and nothing else.

    Databases and the parser differ in what is a blank, a letter or a keyword: by `FROM t QUALIFY (a), staff` PostgreSQL
    reads staff, as QUALIFY is a name to it. So names are in quotes, and clauses as the parser understood them.

    backend : SQLAlchemy's name of the database; another than `QUERYABLE` is refused: nobody tried what it reads
    schema  : that of tables which are named without one; '': where the database looks for them
    raises  : DataError, which names the part that is not let through and repeats no text of the query
    """
    if backend not in QUERYABLE:
        raise DataError(
            f"the source: a query is written over tables of {', '.join(QUERYABLE)}; of '{backend}' name a table, or "
            "ask who runs the warehouse for a view"
        )
    statement = _statement(_without_end(query), backend)
    for table in [*statement.find_all(exp.Table)] if schema else []:
        if len(table.parts) == 1 and _with_of(table, backend) is None:
            table.set("db", exp.to_identifier(schema))
    for name in statement.find_all(exp.Identifier):
        # SQLite takes a quoted name that is no column's for a text; one of a table never.
        if backend != "sqlite" or not isinstance(name.parent, exp.Column) or len(name.parent.parts) > 1:
            name.set("this", _name(name, backend))
            name.set("quoted", True)
    try:
        return statement.sql(_dialect(backend), comments=False, unsupported_level=ErrorLevel.RAISE)
    except (SqlglotError, ValueError, RecursionError):
        raise _refused("cannot be read as one select") from None


def tables_of(query: str, backend: str) -> list[tuple[str, str]]:
    """(schema, table) of each table that a query reads, as the database knows their names; '' for no schema.

    What a WITH names is a table only where it is not in force: in its own select, in those before it, and outside.

    raises : DataError, as `guarded_query`; also for a table that is named with its database
    """
    found = []
    for table in _statement(_without_end(query), backend).find_all(exp.Table):
        if len(table.parts) > 2:
            raise _refused("names a table with its database; write schema.table")
        if _with_of(table, backend) is None:
            *schema, name = (_name(each, backend) for each in table.parts)
            found.append((schema[0] if schema else "", name))
    return found


def refuse_strange_columns(query: str, backend: str, columns_of: Callable[[str, str], Sequence[str]]) -> None:
    """Raise DataError unless each column that a query names is one of its tables', or one that it makes itself.

    By a name that is no column's PostgreSQL calls a function: `p.dossier` is `dossier(p)`, with the rights of whoever
    wrote it. Others read a whole row by the name of its table, or a column of the system.

    columns_of : the columns of (schema, table), as `tables_of` gives them and as the database lists them
    cost       : grows with the parts of the query; each table is asked for once
    """
    statement = _statement(_without_end(query), backend)
    for star in statement.find_all(exp.Star):
        all_of = star.parent if isinstance(star.parent, exp.Column) else star
        if not isinstance(all_of.parent, exp.Select) and not (all_of is star and isinstance(star.parent, exp.Count)):
            raise _refused("uses a whole row as a value")
    names = _Names(backend, columns_of)
    for column in statement.find_all(exp.Column):
        if not isinstance(column.this, exp.Star) and not names.has(column):
            called = f"'{column.name}', which" if _WORD.fullmatch(column.name) else "what"
            raise _refused(f"names {called} is not a column of its tables")


class _Names:
    """What the columns of a query's parts are called, by those of its tables."""

    def __init__(self, backend: str, columns_of: Callable[[str, str], Sequence[str]]) -> None:
        self._backend, self._columns_of = backend, columns_of
        self._found: dict[int | tuple[str, str], list[str]] = {}

    def has(self, column: exp.Column) -> bool:
        """Whether a name stands for a column where it is used: of a table, of a select, or of what a select makes."""
        name = _name(column.this, self._backend)
        table = column.args.get("table")
        of = None if table is None else _name(table, self._backend)
        inner: exp.Expr = column
        perhaps = False  # by a name that a database may look for further outside, where it is another's
        while (outer := inner.parent) is not None:
            path, inner = inner, outer
            if isinstance(inner, exp.SetOperation) and of is None and isinstance(path, exp.Order):
                perhaps |= self._among(name, self._made_by(inner))
            if not isinstance(inner, exp.Select) or not self._is_in_sight(path, column):
                continue
            sources = [*self._sources(inner)]
            joined = isinstance(path, exp.From | exp.Join)  # its condition may not see all that the select does
            if of is None and any(self._among(name, columns) for _, columns in sources):
                found: bool | None = True
            elif of is None:
                found = False if any(self._same(name, called) for called, _ in sources) else None  # a whole row
                perhaps |= self._among(name, [each.alias for each in inner.expressions if each.alias])
            else:
                found = self._of_called(of, name, sources)
                if found is None and self._backend == "duckdb":  # a part of a column
                    whole = [_name(part, self._backend) for part in column.parts[:-1]]
                    found = any(self._among(each, columns) for each in whole for _, columns in sources) or None
            if found is False or (found and not joined):
                return found
            perhaps |= found is True
        return perhaps

    def _is_in_sight(self, path: exp.Expr, column: exp.Column) -> bool:
        """Whether a select's sources are seen from its part `path`: not from a WITH, and from a select beside them in
        DuckDB alone; others look for the name further outside."""
        if isinstance(path, exp.With):
            return False
        if self._backend == "duckdb" or not isinstance(path, exp.From | exp.Join):
            return True
        within: exp.Expr | None = column
        while within is not None and within is not path:
            if within.arg_key == "on" and within.find_ancestor(exp.Select) is path.parent:
                return True
            within = within.parent
        return False

    def _of_called(self, of: str, name: str, sources: Sequence[tuple[str, list[str]]]) -> bool | None:
        """Whether all sources that are called so have the column (tables of two schemas may be); None without any."""
        found = [self._among(name, columns) for called, columns in sources if self._same(of, called)]
        return all(found) if found else None

    def _sources(self, select: exp.Select) -> Iterator[tuple[str, list[str]]]:
        """What a select reads: the name by which it does, and the columns."""
        first = select.args.get("from_")
        for each in (*([first] if first else []), *(select.args.get("joins") or [])):
            yield from self._of_source(each.this)

    def _of_source(self, source: exp.Expr) -> Iterator[tuple[str, list[str]]]:
        alias = source.args.get("alias")
        group = source.this if isinstance(source, exp.Subquery) and _is_joined(source.this) else None
        if group is not None:
            within = [*self._of_source(group)]
            if alias is None:
                yield from within
                return
            columns = [name for _, names in within for name in names]
        elif isinstance(source, exp.Table):
            columns = self._of_table(source)
        else:
            columns = self._made_by(source.this if isinstance(source, exp.Subquery) else source)
        renamed = [_name(each, self._backend) for each in (alias.columns if alias is not None else [])]
        called = source.this if alias is None or alias.this is None else alias.this
        name = _name(called, self._backend) if isinstance(called, exp.Identifier) else ""
        yield name, [*renamed, *columns[len(renamed) :]]
        for join in source.args.get("joins") or []:
            yield from self._of_source(join.this)

    def _of_table(self, table: exp.Table) -> list[str]:
        named = _with_of(table, self._backend)
        if named is not None:
            renamed = [_name(each, self._backend) for each in named.args["alias"].columns]
            return [*renamed, *self._made_by(named.this)[len(renamed) :]]
        *schema, name = (_name(each, self._backend) for each in table.parts)
        key = (schema[-1] if schema else "", name)
        if key not in self._found:
            self._found[key] = [*self._columns_of(*key)]
        return self._found[key]

    def _made_by(self, query: exp.Expr) -> list[str]:
        """The names of what a select, a union of them or a list of values gives."""
        if id(query) in self._found:
            return self._found[id(query)]
        made: list[str] = []
        if isinstance(query, exp.Subquery | exp.SetOperation):
            made = self._made_by(query.this)
        elif isinstance(query, exp.Select):
            for each in query.expressions:
                of = each.args.get("table") if isinstance(each, exp.Column) else None
                if isinstance(each, exp.Star) or (isinstance(each, exp.Column) and isinstance(each.this, exp.Star)):
                    whose = None if of is None else _name(of, self._backend)
                    sources = [*self._sources(query)]
                    made += [
                        name
                        for own, names in sources
                        if whose is None or self._same(whose, own)
                        for name in names
                        if whose is None or self._of_called(whose, name, sources)
                    ]
                elif isinstance(each, exp.Column):
                    made.append(_name(each.this, self._backend))
                elif isinstance(each, exp.Alias):
                    made.append(_name(each.args["alias"], self._backend))
                else:
                    made.append(each.output_name or (each.sql_name().lower() if isinstance(each, exp.Func) else ""))
        self._found[id(query)] = made
        return made

    def _among(self, name: str, names: Sequence[str]) -> bool:
        return any(self._same(name, each) for each in names)

    def _same(self, one: str, other: str) -> bool:
        return same_name(one, other, self._backend)


def _is_joined(within: exp.Expr) -> bool:
    """Whether what stands in brackets are tables that are joined, and no select."""
    return isinstance(within, exp.Table) or (isinstance(within, exp.Subquery) and _is_joined(within.this))


def _with_of(table: exp.Table, backend: str) -> exp.CTE | None:
    """The WITH that a name without a schema stands for, if one is in force where it is used."""
    inner: exp.Expr = table
    each: exp.CTE
    while len(table.parts) == 1 and (outer := inner.parent) is not None:
        in_force: list[exp.CTE] = []
        if isinstance(outer, exp.With):  # of the same WITH, those before it
            in_force = outer.expressions[: outer.expressions.index(inner)]
        elif (within := outer.args.get("with_")) is not None and within is not inner:
            in_force = within.expressions
        for each in reversed(in_force):
            if same_name(_name(table.this, backend), _name(each.args["alias"].this, backend), backend):
                return each
        inner = outer
    return None


def _name(identifier: exp.Expr, backend: str) -> str:
    """An identifier as the database reads it."""
    return folded(identifier.name, bool(identifier.args.get("quoted")), backend)


def _without_end(query: str) -> str:
    return query.strip().removesuffix(";").rstrip()


def _statement(text: str, backend: str) -> exp.Expr:
    """The query taken apart, each of its parts among those that are let through. Raises DataError."""
    if len(text) > _MOST:
        raise _refused(f"has more than {_MOST:,} characters")
    unquoted = _QUOTED.split(text)
    if not _WHOLE.fullmatch(text) or "/*" in "'".join(unquoted) or any(map(_PREFIX.search, unquoted[:-1])):
        raise _refused("holds a comment, a second statement, a quote that is not closed, or one of \\ $ ` # ; E'...'")
    try:
        statements = sqlglot.parse(text, dialect=_dialect(backend))
    except (SqlglotError, ValueError, RecursionError):
        raise _refused("cannot be read as one select") from None
    if len(statements) != 1 or not isinstance(statements[0], exp.Query | exp.Values):
        raise _refused("is not one select")
    for part in statements[0].walk():
        name = type(part).__name__
        if name not in _PARTS or (isinstance(part, exp.With) and part.recursive):
            raise _refused(f"holds what is not let through: {_title(part)}")
        if isinstance(part, exp.Table):
            if not isinstance(part.this, exp.Identifier):
                raise _refused("selects from a function; name a table")
            for identifier in part.parts:
                refuse_strange_name(identifier.name)
        if isinstance(part, exp.In) and part.args.get("field"):
            raise _refused("holds IN without brackets, by which SQLite reads a table")
        if isinstance(part, exp.Var) and not _WORD.fullmatch(part.name):
            raise _refused("holds a word of other letters outside of quotes")
        if isinstance(part, exp.DataType) and part.this is exp.DataType.Type.USERDEFINED:
            raise _refused("converts to a type of the database's own")
    return statements[0]


def _dialect(backend: str) -> str:
    return _DIALECTS.get(backend, backend)


def refuse_strange_name(name: str) -> None:
    """Raise DataError for a table's name, or that of its schema, by which a database reads a file or its catalogue."""
    if not _NAME.fullmatch(name) or _CATALOGUE.match(name):
        raise DataError(
            "the source must be a table of the warehouse, by a name of letters, digits, blanks, '_' and '-'; "
            "no path, no address and no catalogue of the database."
        )


def _title(part: exp.Expr) -> str:
    """The part as SQL calls it: a word of SQL or the name of a function, and never a value."""
    if isinstance(part, exp.Anonymous | exp.AnonymousAggFunc):
        called = str(part.this)
        return f"the function {called}" if re.fullmatch(r"\w{1,40}", called) else "a function"
    return f"the function {part.sql_name()}" if isinstance(part, exp.Func) else type(part).__name__.upper()


def _refused(why: str) -> DataError:
    return DataError(
        f"the source's query {why}. It must be one SELECT over tables, with plain functions of numbers, texts and "
        "dates; for anything else, ask who runs the warehouse for a view, and name that as the table."
    )
