"""Masking methods, one file each. A step of a plan is one of them, told apart by its `method`."""

from sluice.masking.additive_noise import AdditiveNoise
from sluice.masking.global_recoding import GlobalRecoding
from sluice.masking.local_suppression import LocalSuppression
from sluice.masking.mdav import Microaggregation
from sluice.masking.rank_swapping import RankSwapping
from sluice.masking.removal import Removal
from sluice.masking.spectral_swapping import SpectralSwapping
from sluice.masking.top_bottom_coding import TopBottomCoding

Step = (
    AdditiveNoise
    | GlobalRecoding
    | LocalSuppression
    | Microaggregation
    | RankSwapping
    | Removal
    | SpectralSwapping
    | TopBottomCoding
)

__all__ = [
    "AdditiveNoise",
    "GlobalRecoding",
    "LocalSuppression",
    "Microaggregation",
    "RankSwapping",
    "Removal",
    "SpectralSwapping",
    "Step",
    "TopBottomCoding",
]
