"""The privacy models by the name that they have in a plan."""

from collections.abc import Mapping

from sluice.generalization.models.k_anonymity import KAnonymity
from sluice.generalization.models.l_diversity import DistinctLDiversity
from sluice.generalization.models.privacy_model import PrivacyModel
from sluice.generalization.models.t_closeness import EqualTCloseness

MODELS: Mapping[str, type[PrivacyModel]] = {
    "k_anonymity": KAnonymity,
    "distinct_l_diversity": DistinctLDiversity,
    "equal_t_closeness": EqualTCloseness,
}
