"""A choice written in a plan: the name of a privacy model or an objective, and its parameters beside it.

`{model: k_anonymity, k: 5}`, or the name alone where no parameter is needed. Each is a frozen dataclass.
"""

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, TypeAdapter, ValidationError
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from sluice.generalization.cost_benefit import NoAttack, Profitability, PublisherPayout
from sluice.generalization.objectives.class_losses import (
    Ambiguity,
    AverageClassSize,
    Classification,
    Discernibility,
    KLDivergence,
)
from sluice.generalization.objectives.key_losses import Height, Loss, NonUniformEntropy, Precision
from sluice.generalization.objectives.objective import Objective
from sluice.ground.errors import DataError, did_you_mean
from sluice.risk.classes.beta_likeness import BetaLikenessModel
from sluice.risk.classes.delta_disclosure import DeltaDisclosureModel
from sluice.risk.classes.k_anonymity import KAnonymityModel
from sluice.risk.classes.l_diversity import DistinctLDiversity, EntropyLDiversity, RecursiveLDiversity
from sluice.risk.classes.privacy_model import PrivacyModel
from sluice.risk.classes.sample_uniques import SampleUniques
from sluice.risk.classes.t_closeness import EqualTCloseness, OrderedTCloseness
from sluice.risk.population.delta_presence import DeltaPresenceModel
from sluice.risk.population.k_map import EstimatedKMap, KMapModel
from sluice.risk.population.population_uniques import PopulationUniquesModel
from sluice.risk.population.reidentification_risk import AverageRisk, HighestRisk

OBJECTIVES: Mapping[str, type[Objective]] = {
    "loss": Loss,
    "non_uniform_entropy": NonUniformEntropy,
    "discernibility": Discernibility,
    "precision": Precision,
    "ambiguity": Ambiguity,
    "average_class_size": AverageClassSize,
    "kl_divergence": KLDivergence,
    "classification": Classification,
    "height": Height,
    "publisher_payout": PublisherPayout,
}

MODELS: Mapping[str, type[PrivacyModel]] = {
    "k_anonymity": KAnonymityModel,
    "distinct_l_diversity": DistinctLDiversity,
    "entropy_l_diversity": EntropyLDiversity,
    "recursive_l_diversity": RecursiveLDiversity,
    "equal_t_closeness": EqualTCloseness,
    "ordered_t_closeness": OrderedTCloseness,
    "beta_likeness": BetaLikenessModel,
    "delta_disclosure": DeltaDisclosureModel,
    "highest_risk": HighestRisk,
    "average_risk": AverageRisk,
    "sample_uniques": SampleUniques,
    "population_uniques": PopulationUniquesModel,
    "k_map": KMapModel,
    "estimated_k_map": EstimatedKMap,
    "delta_presence": DeltaPresenceModel,
    "no_attack": NoAttack,
    "profitability": Profitability,
}


@dataclass(frozen=True)
class Choice:
    """Of a field's annotation: the field holds an instance of one of `known`, by name.

    word : the entry of the document that names which one
    """

    word: str
    known: Mapping[str, type[Any]]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            self._read, serialization=core_schema.plain_serializer_function_ser_schema(self._written)
        )

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [form for name in self.known for form in self._forms(name)]}

    def _read(self, value: Any) -> Any:
        if isinstance(value, tuple(self.known.values())):
            return value
        content = {self.word: value} if isinstance(value, str) else value
        if not isinstance(content, Mapping) or self.word not in content:
            raise ValueError(f"give '{self.word}: NAME' and its parameters; NAME is one of {', '.join(self.known)}")
        name = str(content[self.word])
        if name not in self.known:
            hint = did_you_mean(name, self.known)
            raise ValueError(f"no {self.word} '{name}'.{hint} Known: {', '.join(self.known)}")
        chosen, given = self.known[name], {key: each for key, each in content.items() if key != self.word}
        named = [field.name for field in fields(chosen)]
        for key in given:
            if key not in named:
                raise ValueError(f"{self.word} {name} has no '{key}'.{did_you_mean(str(key), named)}")
        try:
            return TypeAdapter(chosen).validate_python(given)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"]))
            raise ValueError(f"{self.word} {name}: {where}: {first['msg']}") from None
        except DataError as error:
            raise ValueError(str(error)) from None

    def _written(self, value: Any) -> dict[str, Any]:
        name = next(name for name, model in self.known.items() if type(value) is model)
        return {self.word: name} | {field.name: getattr(value, field.name) for field in fields(value)}

    def _forms(self, name: str) -> list[dict[str, Any]]:
        model = self.known[name]
        schema = TypeAdapter(model).json_schema()
        nested = {f"#/$defs/{each}": whole for each, whole in schema.get("$defs", {}).items()}
        described = {key: nested.get(each.get("$ref"), each) for key, each in schema.get("properties", {}).items()}
        properties = {self.word: {"const": name}} | described
        needed = [f.name for f in fields(model) if f.default is MISSING and f.default_factory is MISSING]
        whole = {
            "type": "object",
            "properties": properties,
            "required": [self.word, *needed],
            "additionalProperties": False,
        }
        return [whole] if needed else [{"const": name}, whole]
