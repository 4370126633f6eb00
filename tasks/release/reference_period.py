"""The reference period of a release's data, as it is recorded when they are received."""

from datetime import UTC, datetime, timedelta

from schemas.reference_period import period_of
from sluice.ground.errors import DataError
from tasks.release.release import DocumentedRelease


def reference_period(release: DocumentedRelease) -> dict[str, str] | None:
    """The period that the data are of, by its text, first and last day; None where the contract names none.

    raises : DataError, without a value, where the data do not say one, or one that has not begun: whoever submits the
             data could otherwise have an edition come after all that follow
    cost   : one pass over the column
    """
    asked = release.product.contract.reference_period
    if asked is None:
        return None
    values = None if asked.column is None else release.read_staged([asked.column])[asked.column]
    period = period_of(asked, values)
    if period.first > (datetime.now(UTC) + timedelta(hours=14)).date():  # where the day begins first
        where = "'fixed'" if asked.column is None else f"the column '{asked.column}'"
        raise DataError(
            f"{where} gives a period that has not begun; data are of one that has", field="reference_period"
        )
    return {"text": period.text, "first": period.first.isoformat(), "last": period.last.isoformat()}
