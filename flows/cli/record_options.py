"""Options that the commands on tables share: how records add up to a table, and to which."""

import re
from typing import Annotated, Any

import typer

Hierarchies = Annotated[
    list[str] | None,
    typer.Option(
        "--hierarchy",
        metavar="NAME[=FILE]",
        help="each dimension, and a CSV of code,parent: without one its codes add up to Total; a name again is a "
        "further grouping",
    ),
]
Rules = Annotated[
    list[str] | None, typer.Option("--rule", metavar="RULE=NUMBERS", help="such as p_percent=10 or dominance=2,85")
]
Tables = Annotated[
    list[str] | None, typer.Option("--table", metavar="NAME,NAME", help="dimensions of one of several linked tables")
]
Value = Annotated[str | None, typer.Option("--value", help="the column that is added up; else records are counted")]
Contributor = Annotated[str | None, typer.Option("--contributor", help="the column that tells whose a record is")]
Holding = Annotated[str | None, typer.Option("--holding", help="the column that tells to whom a contributor belongs")]
Weight = Annotated[str | None, typer.Option("--weight", help="the column of sampling weights")]
WeightRule = Annotated[
    str | None,
    typer.Option("--weight-rule", help="argus: w contributors of that size; gconfid_exact: one of w times it"),
]
Negative = Annotated[str, typer.Option("--negative", help="refuse; absolute: rules look at sizes without sign")]
Missing = Annotated[str, typer.Option("--missing", help="values: refuse; leave_out: leave the record out")]
Duplicates = Annotated[
    str, typer.Option("--duplicates", help="of a contributor in one cell of the lowest level: refuse; add")
]
Decimals = Annotated[int | None, typer.Option("--decimals", help="of the totals; else as many as the values have")]
Coalition = Annotated[int, typer.Option("--coalition", min=0, max=3, help="contributors who pool what they know")]
Workers = Annotated[
    int | None, typer.Option("--workers", min=1, help="processes to work with, for large tables; else SLUICE_WORKERS")
]


_NAMES = re.compile(r"(?<!')\b(weight_rule|weight|negative|missing|duplicates|contributor|decimals)\b(?!')")


def measure_given(
    value: str | None,
    contributor: str | None,
    holding: str | None,
    weight: str | None,
    weight_rule: str | None,
    negative: str,
    missing: str,
    duplicates: str,
    decimals: int | None,
) -> Any:
    """How to read records, as the options say. Raises DataError."""
    from sluice.ground.errors import DataError
    from sluice.tabular.model.measure import Measure

    try:
        return Measure(
            value,
            contributor,
            holding,
            weight,
            weight_rule or "none",  # type: ignore[arg-type]  # it says which are allowed
            negative,  # type: ignore[arg-type]
            missing,  # type: ignore[arg-type]
            duplicates if contributor else "add",  # type: ignore[arg-type]
            decimals,
        )
    except DataError as error:
        raise DataError(_NAMES.sub(lambda found: f"--{found[0].replace('_', '-')}", str(error))) from None
