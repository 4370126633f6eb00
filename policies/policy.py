"""The policy: what a release must meet before it may leave the house, written by methodologists.

Settings that contradict each other, under which no release whatever could pass, are refused.
"""

from collections import ChainMap
from collections.abc import Collection, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from policies.approvals import Approvals
from policies.check import How, at_hand, unmet
from policies.formula_cells import FORMULA_CELLS, FormulaCells
from policies.idle_limits import idle_limits
from policies.retention import Retention
from policies.rules.attack_rule import AttackRule
from policies.rules.attribute_rules import AttributeInference
from policies.rules.control_rules import ControlRule
from policies.rules.linkage_rules import DistanceLinkage, LinkageRule
from policies.rules.rules import AttackPolicyRule, PolicyRule
from policies.standard.reference_standard import ReferenceStandard
from policies.table_attackers import TableAttackers
from policies.utility_limits import UtilityLimits
from policies.waivers import Waiver
from sluice.documents.document_reading import parse_document, read_yaml
from sluice.ground.declaration import Declaration
from sluice.ground.errors import DocumentError, did_you_mean
from sluice.ground.extensions import unnamed
from sluice.ground.rule import DisclosureRule, Need, Requirement
from sluice.ground.sentence import Sentence, as_fields, percent
from sluice.ground.variables import Label, Role, Variables, with_role
from sluice.ground.verdict import Finding, Verdict
from sluice.ground.visible_text import Name, Prose
from sluice.risk.attacks.attack_success import AttackSuccess
from sluice.risk.classes.k_anonymity import KAnonymity
from sluice.risk.classes.microdata_rule import MicrodataRule, models_of
from sluice.risk.classes.privacy_model import PrivacyModel
from sluice.risk.population.population_rule import PopulationRule
from sluice.tabular.rules.sensitivity import SensitivityRule

_SHARES = (LinkageRule, ControlRule, AttributeInference)  # of people: none found leaves an interval above 0

_OVERLOOKED = Sentence(
    "overlooked_keys.overlooked", "No rule of the policy looks at {names:commas}, by which people can be recognised."
)

OVERLOOKED_KEYS = (
    Declaration(
        "overlooked_keys",
        helps="Add these quasi-identifiers to the columns of a rule, or correct their role in the contract if nobody "
        "can be recognised by them.",
        waivable=True,
    ),
)


class Policy(BaseModel):
    """Rules with thresholds, the gate of the reference standard, limits on information loss, approvals and waivers."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Name = Field(min_length=1)
    version: Label = Field(min_length=1)
    description: Prose = ""
    rules: tuple[PolicyRule, ...] = Field(
        default=(), description="disclosure rules; every one must hold. None where the reference standard alone decides"
    )
    reference_standard: ReferenceStandard | None = Field(
        default=None, description="a release of microdata without it cannot be judged and is blocked"
    )
    attacks: tuple[AttackPolicyRule, ...] = Field(
        default=(), description="intruders who are played against the masked file with the original records"
    )
    table_attackers: TableAttackers = Field(
        default=TableAttackers(), description="who is played against protected tables, besides everybody who reads them"
    )
    utility: UtilityLimits = UtilityLimits()
    approvals: Approvals
    waivers: tuple[Waiver, ...] = ()
    retention: Retention | None = Field(
        default=None,
        exclude_if=lambda retention: retention is None,  # a policy that says nothing of it stays the one it was
        description="how long the vault keeps what a release left in it; all that is not named is kept for ever",
    )
    extensions: tuple[Name, ...] = Field(
        default=(),
        exclude_if=lambda named: not named,  # a policy that names none stays the one it was
        description="distributions of others whose masking methods and checks count; of any other they are refused",
    )
    formula_cells: FormulaCells = Field(
        default="report",
        exclude_if=lambda chosen: chosen == "report",  # a policy that says nothing of it stays the one it was
        description="texts that a spreadsheet would run as formulas: `report` publishes them as they are and says so, "
        "`escape` puts a quote in front in the CSV file, `block` needs a waiver",
    )
    minimum_cell: int = Field(default=10, ge=3, description="the report shows no count below this, in records")

    @model_validator(mode="after")
    def _waivers_name_rules(self) -> Self:
        known = self.waivable
        for index, waiver in enumerate(self.waivers):
            if waiver.rule not in known:
                hint = did_you_mean(waiver.rule, known)
                raise ValueError(
                    f"waivers.{index}.rule: this policy has no rule '{waiver.rule}'.{hint} Known: {', '.join(known)}."
                )
        return self

    @model_validator(mode="after")
    def _names_whose_checks_count(self) -> Self:
        if unknown := unnamed(map(type, (*self.rules, *self.attacks)), self.extensions):
            raise ValueError(f"extensions: must name {unknown[0]}, of which the policy has a check")
        return self

    @model_validator(mode="after")
    def _judges_something(self) -> Self:
        if not self.rules and self.reference_standard is None:
            raise ValueError("rules: name at least one, or a reference_standard; by neither nothing would be judged")
        return self

    @model_validator(mode="after")
    def _lets_something_out(self) -> Self:
        if found := contradictions(self.rules, self.reference_standard, self.attacks):
            raise ValueError(f"nothing could pass this policy. {'; '.join(found)}")
        return self

    @model_validator(mode="after")
    def _every_limit_can_fail(self) -> Self:
        if found := idle_limits(self.rules, self.attacks, self.reference_standard, self.utility):
            raise ValueError(f"a limit that nothing can exceed lets everything pass. {'; '.join(found)}")
        return self

    @model_validator(mode="after")
    def _crowds_are_groups(self) -> Self:
        k = max((rule.k for rule in self.rules if isinstance(rule, KAnonymity)), default=0)
        for index, attack in enumerate(self.attacks):
            if isinstance(attack, DistanceLinkage) and attack.alike is not None and attack.alike < k:
                raise ValueError(
                    f"attacks.{index}.alike: at least the k of k_anonymity, {k}, for a smaller group does not hide; "
                    f"got {attack.alike}"
                )
        return self

    @property
    def waivable(self) -> list[str]:
        """Names of the findings that a waiver may speak of: this policy's rules, its gate's and its utility limits."""
        from policies.pruned_publications import PRUNED
        from policies.several_publications import PUBLICATIONS  # with their engines
        from policies.standard.standard_checks import PARTS

        gate = [part.rule for part in PARTS] if self.reference_standard else []
        rules = (rule.rule for rule in (*self.rules, *self.attacks))
        declared = (*OVERLOOKED_KEYS, *PUBLICATIONS, *PRUNED, *FORMULA_CELLS)
        always = [each.rule for each in declared if each.waivable]
        return sorted({*rules, *gate, *UtilityLimits.model_fields, *always})

    @property
    def table_rules(self) -> tuple[SensitivityRule, ...]:
        """Those that judge the cells of tables."""
        return self.table_attackers.pooled(rule for rule in self.rules if isinstance(rule, SensitivityRule))

    def models(self, variables: Variables) -> tuple[PrivacyModel, ...]:
        """What a search of generalisations under the policy must satisfy, each once.

        The search is no judge: the rules look at the file that comes of it as at any other.
        """
        found = [model for rule in self.rules for _, model in models_of(rule, variables) if model is not None]
        return tuple(dict.fromkeys(found))

    def without_model(self, variables: Variables) -> tuple[str, ...]:
        """What is left to the judgement of the file: rules, and variables of rules, such as the entropy of numbers,
        of which near ones count as one value."""
        asked = [part for rule in self.rules for part in models_of(rule, variables)]
        return tuple(dict.fromkeys(name for name, model in asked if model is None))

    @property
    def requirements(self) -> list[Requirement]:
        """What those of its checks that decide cannot judge a file of records without."""
        standard = [] if self.reference_standard is None else self.reference_standard.requirements
        return [*(each for rule in (*self.rules, *self.attacks) for each in rule.requirements), *standard]

    def unmet(
        self,
        *described: Variables,
        holdout: bool,
        knowledge: Collection[str],
        paired: bool,
        how: How,
        numbers_alone: bool = False,
    ) -> list[str]:
        """A sentence for each thing without which checks that decide cannot judge a file of records, before a record
        is read: which checks need it, and how it is given. None where it can be judged.

        described : as `at_hand` takes them
        knowledge : the sets of variables that the contract has
        paired    : whether it is known which released record is whose
        numbers_alone : whether the contract says that there are no quasi-identifiers; groups are then asked of none
        """
        standard = self.reference_standard
        lacking = sorted((standard.sets_known if standard else frozenset[str]()) - {*knowledge})
        given = at_hand(*described, holdout=holdout, knowledge=not lacking, numbers_alone=numbers_alone)
        hint = f". There is no set {', '.join(map(repr, lacking))}" + (
            "".join(did_you_mean(name, knowledge) for name in lacking)
            or (f", only {', '.join(sorted(knowledge))}" if knowledge else "")
        )
        found = [
            says + hint if lacking and Need.KNOWLEDGE in says else says
            for says in unmet(self.requirements, given, paired, how)
        ]
        return [*found, *self._misfits(dict(ChainMap(*map(dict, described))))]

    def _misfits(self, variables: Variables) -> list[str]:
        """A sentence for each thing that a check names which decides, and that a file of these variables lacks."""
        checks = [each for each in (*self.rules, *self.attacks) if each.decides]
        found = (f"{check.rule} {says}" for check in checks for says in check.misfits(variables))
        return list(dict.fromkeys(found))

    @property
    def population_lists(self) -> tuple[str, ...]:
        """The files that its rules read: they are named by it, and no part of it."""
        named = {getattr(rule, "population", None) for rule in self.rules if isinstance(rule, PopulationRule)}
        return tuple(sorted(filter(None, named)))

    def overlooked(self, released: Variables) -> list[Finding]:
        """A finding that needs a decision when a released quasi-identifier is looked at by none of the rules."""
        rules = [rule for rule in self.rules if isinstance(rule, MicrodataRule)]
        looked_at = {name for rule in rules for name in rule.keys(released)}
        left = [name for name in with_role(released, Role.QUASI_IDENTIFIER) if name not in looked_at]
        if not rules or not left:
            return []
        says = _OVERLOOKED(names=left)
        return [
            Finding(
                rule="overlooked_keys", verdict=Verdict.REVIEW, scope=", ".join(left), stage="masked", **as_fields(says)
            )
        ]


def load_policy(path: Path) -> Policy:
    """The policy in a YAML file, or one that comes with Sluice, by its name. Raises DocumentError."""
    if path == Path(path.name) and not path.suffix and not path.exists():
        shipped = shipped_policies()
        if path.name not in shipped:
            raise DocumentError(
                f"neither a file nor a policy that comes with Sluice is called '{path}'."
                f"{did_you_mean(path.name, shipped)} Those that come with it: {', '.join(shipped)}"
            )
        path = shipped[path.name]
    return parse_document(Policy, read_yaml(path), str(path))


def shipped_policies() -> dict[str, Path]:
    """The policies that come with Sluice: name -> file."""
    found = (Path(str(each)) for each in files(__package__).iterdir() if each.name.endswith(".yaml"))
    return {path.stem: path for path in sorted(found)}


def contradictions(
    rules: Sequence[DisclosureRule], standard: ReferenceStandard | None, attacks: Sequence[AttackRule]
) -> list[str]:
    """A sentence for each reason why nothing could pass a policy, whatever the data; none where something can."""
    found = _of_rules(rules)
    if standard is not None:
        found += _of_standard(standard, rules)
    for index, attack in enumerate(attacks):
        found += _of_attack(f"attacks.{index}", attack)
    return found


def _of_rules(rules: Sequence[DisclosureRule]) -> list[str]:
    tables = [rule.rule for rule in rules if isinstance(rule, SensitivityRule)]
    records = [rule.rule for rule in rules if isinstance(rule, MicrodataRule)]
    if tables and records:
        return [
            f"rules: {tables[0]} judges tables and {records[0]} records, and no release is both. Write two policies."
        ]
    return []


def _of_standard(standard: ReferenceStandard, rules: Sequence[DisclosureRule]) -> list[str]:
    found = []
    if "uncertainty" in standard.binding and any(isinstance(rule, KAnonymity) for rule in rules):
        found.append(
            "reference_standard.binding: uncertainty is 0 where records are made alike, as k_anonymity asks. Take one "
            "of the two out"
        )
    for where, judged in (
        ("learned", standard.learned),
        *((f"intruders.{index}", intruder) for index, intruder in enumerate(standard.intruders)),
    ):
        if judged.binding:
            shares = {"found": judged.found, "claims": judged.claims}
            found += _too_small(f"reference_standard.{where}", shares, standard.learned.people)
    if standard.units.binding:
        shares = {"found": standard.units.found, "claims": standard.units.claims}
        found += _too_small("reference_standard.units", shares, standard.units.people)
    knows = standard.transparency
    if knows.binding:
        shares = {"identified": knows.identified, "confident": knows.confident}
        found += _too_small("reference_standard.transparency", shares, knows.people)
    return found


def _too_small(where: str, shares: dict[str, float], people: int) -> list[str]:
    """Limits below the interval that is left when nobody at all was found."""
    _, most = AttackSuccess(people, people, 0).exact()
    return [
        f"{where}.{name}: where {people:,} people are judged and none is found, the share may still be "
        f"{percent(most)}, so {percent(share)} can never be shown. Allow as much, or judge more people"
        for name, share in shares.items()
        if share < most
    ]


def _of_attack(where: str, attack: AttackRule) -> Sequence[str]:
    if not attack.binding or not isinstance(attack, _SHARES):
        return []
    return [
        f"{where}.{name}: 0 can never be shown of a share that is estimated from some of the people. Allow a little, "
        "such as 0.01"
        for name in ("limit", "excess")
        if getattr(attack, name) == 0
    ]
