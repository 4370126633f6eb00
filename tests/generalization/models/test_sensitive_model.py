"""What the models claim of unions of classes holds, and what they do not claim does not."""

import numpy as np

from sluice.generalization.lattice.key import Key
from sluice.generalization.lattice.node import Node, bottom
from sluice.generalization.lattice.suppression import Requirements
from sluice.generalization.models.alpha_k import AlphaKAnonymity
from sluice.generalization.models.delta_disclosure import DeltaDisclosure
from sluice.generalization.models.l_diversity import DistinctLDiversity, EntropyLDiversity, RecursiveLDiversity
from sluice.generalization.models.privacy_model import PrivacyModel, ReleasedFile


def satisfied(model: PrivacyModel, node: Node) -> bool:
    file = ReleasedFile(node, np.ones(len(node.sizes), dtype=bool), "released")
    return not model.failing(file).any() and not model.file_fails(file)


def united(values: list[list[int]]) -> tuple[Node, Node]:
    """Two classes with such values, and their union."""
    key = Key("place", np.array([[0, 1, 2], [0, 0, 1]]))
    codes = np.concatenate([np.full(len(some), at) for at, some in enumerate(values)])
    fine, _ = bottom([key], [codes], {"a": np.concatenate(values)})
    return fine.at([1])[0], fine


def test_a_class_that_holds_may_not_once_it_is_united_with_one_that_does_not() -> None:
    coarse, fine = united([[0, 1], [0] * 10])
    for model in (EntropyLDiversity("a", 1.9), RecursiveLDiversity("a", 1.5, 2), AlphaKAnonymity("a", 0.6, 1)):
        assert not model.monotone_with_suppression
        assert model.failing(ReleasedFile(fine, np.ones(2, dtype=bool), "removed")).tolist() == [False, True]
        assert model.failing(ReleasedFile(coarse, np.ones(1, dtype=bool), "removed")).all()


def test_who_has_no_value_is_not_safe_once_united_with_those_of_one_value() -> None:
    coarse, fine = united([[0] * 9, [-1]])
    model = DistinctLDiversity("a", 2)
    assert model.failing(ReleasedFile(fine, np.ones(2, dtype=bool), "removed")).tolist() == [True, False]
    assert model.failing(ReleasedFile(coarse, np.ones(1, dtype=bool), "removed")).all()
    assert Requirements.of([model], 10, 0.5, "removed", ["a"]).certain == ()
    assert Requirements.of([model], 10, 0.5, "removed").certain == (model,)


def test_a_value_that_one_class_lacks_may_be_rare_in_the_union() -> None:
    coarse, fine = united([[0, 1, 1, 1], [1] * 12, [0] * 14])
    model = DeltaDisclosure("a", 1, absent=False)
    assert not model.monotone
    assert satisfied(model, fine)
    assert not satisfied(model, coarse)
