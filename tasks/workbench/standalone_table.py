"""A table outside any release: the specification of a release's tables, and beside it what a policy says of tables.

The commands read it from a file (`--spec`) and from their options, the notebook from the arguments of a function.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from pydantic import Field, model_validator

from policies.rules.rules import TablePolicyRule
from policies.table_attackers import TableAttackers
from policies.waivers import Waiver
from sluice.documents.document_reading import Written, parse_document, read_yaml
from sluice.ground.errors import DataError
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.measure import Measure, Requested
from sluice.tabular.rules.sensitivity import SensitivityRule
from tasks.release.tables.protection_method import SecondarySuppression
from tasks.release.tables.specification import TableSpecification, refuse_other_measures, with_named_files

_OF_A_RELEASE = ("sdmx_dataflow", "time_period", "tell_contributors")


class StandaloneTable(TableSpecification):
    """A table that is specified by itself; what only a release publishes or knows is refused."""

    rules: tuple[TablePolicyRule, ...] = Field(default=(), description="that say which cells are sensitive")
    rules_of: dict[str, tuple[TablePolicyRule, ...]] = Field(
        default={}, description="of several measures: by its name, the rules of one of them, in place of 'rules'"
    )
    table_attackers: TableAttackers = TableAttackers()
    waivers: tuple[Waiver, ...] = Field(
        default=(), description="of sensitive cells that protection.a_priori wants published"
    )

    @model_validator(mode="after")
    def _outside_a_release(self) -> Self:
        refuse_other_measures("rules_of", self.rules_of, self.measures)
        if self.measure.requested is None and any(rule.rule == "request_rule" for rule in self._all_rules):
            raise ValueError(
                "measure.requested: request_rule protects those who asked: name the column that tells "
                "who did (--requested COLUMN=VALUE)"
            )
        measure, weight = self.measure, self.measure.weight
        told = dict.fromkeys((*self.measures, measure.variable), "a measure")
        told |= {measure.contributor: "the contributor", measure.holding: "the holding"}
        told |= {} if weight is None else {weight.variable: "the weight"}
        for each in self.dimensions:  # a release has codes of nominal variables alone
            if each.variable in told:
                raise ValueError(
                    f"dimensions: '{each.variable}' is {told[each.variable]}; its codes would be published, whatever "
                    "is suppressed"
                )
        own_keys = self.cells is not None and self.protection.method == "cell_key"
        if own_keys and (self.cells.key is None or self.protection.record_key):  # type: ignore[union-attr]
            raise ValueError("cells.key: cell_key of cells needs the column of their keys, and no record_key")
        for field in _OF_A_RELEASE:
            if getattr(self.form, field):
                raise ValueError(f"form.{field}: only a release publishes it")
        suppression = self.protection if isinstance(self.protection, SecondarySuppression) else None
        if self.waivers and not (suppression and suppression.a_priori):
            raise ValueError("waivers: protection.a_priori must say which cells should be published")
        return self

    @classmethod
    def of(cls, written: Mapping[str, Any], name: str) -> Self:
        """Raises DocumentError, which begins with `name`."""
        return parse_document(cls, written if isinstance(written, dict) else dict(written), name)

    @property
    def summed(self) -> Measure:
        """The measure, as the aggregation takes it. Raises DataError where there are several."""
        if self.measures:
            raise DataError(
                f"measures: several share a pattern only where it is made; take each by itself here, such as "
                f"{self.measures[0]}."
            )
        return self.measure.measure

    @property
    def counts_weights(self) -> bool:
        """Whether the frequency that a rule looks at is that of weighted records."""
        weight = self.measure.weight
        weighted = weight is not None and weight.rule == "argus"
        return weighted and any(rule.rule == "minimum_frequency" for rule in self._all_rules)

    @property
    def by_measure(self) -> dict[str, Self]:
        """Each measure by itself, with its own rules; of one measure, itself."""
        return {
            name: each.model_copy(update={"rules": self.rules_of.get(name, self.rules), "rules_of": {}})
            for name, each in super().by_measure.items()
        }

    @property
    def _all_rules(self) -> tuple[SensitivityRule, ...]:
        return (*self.rules, *(rule for rules in self.rules_of.values() for rule in rules))

    @property
    def asked(self) -> Requested | None:
        """How a contributor asks for protection."""
        requested = self.measure.requested
        return None if requested is None else requested.asked

    @property
    def sensitivity(self) -> list[SensitivityRule]:
        """The rules on cells, of all measures; none where people say which are sensitive. Raises DataError where
        nothing would be."""
        method = self.protection
        by_people = isinstance(method, SecondarySuppression) and any(each.get("status") for each in method.a_priori)
        lacking = [name for name, each in self.by_measure.items() if not each.rules]
        if lacking and not by_people:
            of = f" of {lacking[0]}" if self.measures else ""
            raise DataError(f"no rule says which cells{of} are sensitive; give at least one, such as p_percent=10.")
        return list(self.table_attackers.pooled(self._all_rules))

    @property
    def assumptions(self) -> Assumptions:
        """What those know who read the table, as the policy of a release assumes it."""
        return self.table_attackers.assumptions(self.summed)


def written_table(file: Path, files: list[Path]) -> Written:
    """What a YAML file says of a table, with the content of the files that it names in their place.

    files  : those that were read are appended to it
    raises : DocumentError, DataError
    """
    written = read_yaml(file)
    files.append(file)
    content = Written(with_files(written, file.parent, files))
    content.root = written.root
    return content


def with_files(written: Mapping[str, Any], base: Path, files: list[Path]) -> dict[str, Any]:
    """The same of a mapping whose paths begin in the folder `base`: whoever runs a command may name any file."""

    def named(folder: Path, given: str, where: str) -> Path:
        files.append(folder / Path(given).expanduser())
        return files[-1]

    return with_named_files(written, base, named)
