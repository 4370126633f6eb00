"""The definition of a release of records: which data, masked how."""

from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from sluice.masking import Step
from sluice.masking.microaggregation.clustering_step import ClusteringStep
from sluice.masking.microaggregation.microaggregation_step import MicroaggregationStep
from sluice.masking.recoding.generalization import Generalization
from sluice.masking.recoding.top_bottom_coding import TopBottomCoding
from sluice.utility.analyses.asked_analyses import Analyses
from tasks.release.release_definition import Definition, StrictModel

if TYPE_CHECKING:
    from policies.policy import Policy

LEAST_GROUP = 3  # records behind a published mean


class MoveTogether(StrictModel):
    """In how large groups people come into a series of the same people, leave it, or change in it."""

    k: int = Field(ge=LEAST_GROUP, description="so many of a class leave or change together; others leave with them")
    newcomers: int | None = Field(
        default=None,
        description="so many of a class wait before they enter; larger groups last longer. k, if not given",
    )

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        if self.newcomers is not None and self.newcomers < self.k:
            raise ValueError(f"newcomers must be at least k, {self.k}; got {self.newcomers}")
        return self

    def correction(self) -> str:
        """What whoever analyses the file has to allow for."""
        return (
            f"Between editions people enter, leave or change in groups of at least {self.k} of a class: some wait, and "
            "some are left out, drawn at random in their class. Weigh the classes anew for totals; of flows between "
            "editions, only shares of those in both are meaningful."
        )


def _or_draft(schema: dict[str, Any]) -> None:
    """Steps, or the word that `tasks.release.products` answers with the command that drafts them."""
    steps = {key: schema.pop(key) for key in ("type", "items", "minItems")}
    schema["anyOf"] = [steps, {"const": "draft"}]


class RecordsDefinition(Definition):
    """A release of microdata: which data, masked how."""

    product = "records"

    plan: tuple[Annotated[Step, Field(discriminator="method")], ...] = Field(
        min_length=1,
        description="masking steps, in order; 'draft' until one is drafted: commands then say by which command",
        json_schema_extra=_or_draft,
    )
    seed: Literal["keep", "destroy"] = Field(
        default="keep",
        description="keep the seed in the vault, so that authorised people can reproduce the file, "
        "or destroy it on publication, so that nobody can undo the noise",
    )
    copies: tuple[Literal["stata", "spss"], ...] = Field(
        default=(),
        exclude_if=lambda copies: not copies,  # a definition that names none stays the one it was
        description="statistics packages for which a copy with labels is published beside Parquet and CSV",
    )
    move_together: MoveTogether | None = Field(
        default=None,
        exclude_if=lambda groups: groups is None,
        description="in a series of the same people nobody comes, leaves or changes alone",
    )
    analyses: Analyses = Field(
        default=Analyses(),
        description="what users of the data will do with them, done with the original and the masked file; reported",
    )

    def under(self, policy: "Policy") -> Self:
        """With the policy's rules in the steps that search under it, and files for those that read one."""
        from sluice.sources.permission import permitted_file  # and databases, of which a refusal needs nothing

        plan = (step.under_policy(policy) if isinstance(step, Generalization) else step for step in self.plan)
        return self.model_copy(update={"plan": tuple(step.reading(permitted_file) for step in plan)})

    @property
    def population_lists(self) -> tuple[str, ...]:
        return tuple(step.population for step in self.plan if isinstance(step, Generalization) and step.population)

    @field_validator("copies")
    @classmethod
    def _each_copy_once(cls, copies: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(copies)) != len(copies):
            raise ValueError("names one twice")
        return copies

    @model_validator(mode="after")
    def _no_small_groups(self) -> Self:
        """A mean of one is the person's value, and of a mean of two each can work out the other's."""
        for index, step in enumerate(self.plan):
            for field in ("k", "minimum_tail"):
                least = getattr(step, field, None)
                if (
                    isinstance(step, MicroaggregationStep | ClusteringStep | TopBottomCoding)
                    and least is not None
                    and least < LEAST_GROUP
                ):
                    raise ValueError(
                        f"plan.{index}: {field} of {step.method} must be at least {LEAST_GROUP} in a release: of the "
                        f"mean of two, each can work out the other's value; got {least}"
                    )
        return self

    @model_validator(mode="after")
    def _values_that_are_refined_are_known(self) -> Self:
        """Which levels a record gets by `refine` depends on its values: the original's own must lead to the same."""
        for index, step in enumerate(self.plan):
            if not (isinstance(step, Generalization) and step.refine):
                continue
            for earlier in self.plan[:index]:
                changed = [] if earlier.is_recoding else [name for name in step.columns if name in earlier.columns]
                if changed:
                    raise ValueError(
                        f"plan.{index}: refine of {step.method} must come before {earlier.method}, which changes "
                        f"'{changed[0]}': nobody could then tell how the original values were recoded"
                    )
        return self

    @model_validator(mode="after")
    def _strata_of_recodings_are_known(self) -> Self:
        """The original is put on the masked file's categories by the recodings alone, which need the same strata."""
        for index, step in enumerate(self.plan):
            if not step.is_recoding:
                continue
            for earlier in self.plan[:index]:
                changed = set() if earlier.is_recoding else set(earlier.columns) & set(step.strata)
                if changed:
                    raise ValueError(
                        f"plan.{index}: {step.method} by strata of '{sorted(changed)[0]}' must come before "
                        f"{earlier.method}, which changes that variable: nobody could then tell how the original "
                        "values were recoded"
                    )
        return self
