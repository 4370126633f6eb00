"""Lossy compression: the file is stored as a JPEG image and read back.

Source: Torra (2013), "Lossy Compression": records are rows, variables columns, values pixels; its example
is JPEG at 80 % on 8 records of 8 variables. The mapping between values and grey levels, which the slide leaves open, is
linear here, from each column's smallest and largest value to 0 and 255.
"""

from io import BytesIO
from typing import ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
from numpy.random import Generator
from pydantic import Field, model_validator

from sluice.ground.arrays import FloatArray
from sluice.ground.errors import PlanError
from sluice.ground.frame_columns import with_columns
from sluice.ground.variables import Kind, Variable, Variables
from sluice.masking.column_numbers import Round, numbers, perturbed, stored
from sluice.masking.masking_step import MaskingStep
from sluice.risk.transparency.attack import Attack
from sluice.risk.transparency.linear_change import LinearChange

ByteArray = npt.NDArray[np.uint8]

# JPEG ends at 65,535 rows, so a long file is several images. It works on blocks of 8 x 8 pixels, each by itself: images
# of a multiple of 8 rows give what one image of the whole file would.
_IMAGE_ROWS = 8192


class LossyCompression(MaskingStep):
    """Store continuous and integer columns as a grey JPEG image and release what it shows."""

    method: Literal["lossy_compression"] = "lossy_compression"
    quality: int = Field(description="quality of the JPEG image, 1 (strongest masking) to 95; 80 in the source")
    missing: Literal["refuse", "mean"] = Field(
        default="refuse", description="mean: a missing value is treated as the mean, and stays missing"
    )
    round: Round = False

    example: ClassVar[str] = "{method: lossy_compression, columns: [income, rent, hours], quality: 80}"
    use_when: ClassVar[str] = "The rough shape of the data is enough; related columns should be neighbours."
    preserves: ClassVar[str] = (
        "Each column's range, and nearly averages over eight neighbouring records and columns; no moment "
        "exactly. Values are no finer than 1/255 of a column's range."
    )
    known_attack: ClassVar[str] = (
        "At high quality a record is linked to its original by distance. The grey scale is taken from the "
        "data: where the extremes survive, they are the smallest and largest true value. Nothing is "
        "random, so whoever knows the neighbouring records can try values for one until the image fits."
    )
    missing_values: ClassVar[str] = (
        "Refused, because an image has no gaps; with `missing: mean` they are drawn as the column's mean, which blurs "
        "their neighbours, and stay missing in the release."
    )
    in_an_analysis: ClassVar[str] = (
        "No moment is exact, and no factor corrects it. Use it for pictures and rough shapes; ask the publisher to "
        "repeat an analysis that matters."
    )
    attack_measured: ClassVar[str] = (
        "Compare each released record with what the known one is expected to become, in units of the scatter. On 12 "
        "variables of Census (quality: 80): 86 % found; 85 % surely found."
    )

    @model_validator(mode="after")
    def _quality_is_within_bounds(self) -> Self:
        if not 1 <= self.quality <= 95:
            raise ValueError(
                f"quality of lossy_compression on {', '.join(map(repr, self.columns))} must be a whole number from 1 "
                f"to 95; got {self.quality}. Above 95 JPEG changes next to nothing."
            )
        return self

    def released(self, variables: Variables) -> dict[str, Variable]:
        """Integer variables become continuous unless `round`. Bounds stay, as values stay within the column's range."""
        self.refuse_unless(variables, Kind.CONTINUOUS, Kind.INTEGER)
        changed = {name: perturbed(variables[name], whole=self.round, bounded=True) for name in self.columns}
        return {**variables, **changed}

    def mask(self, frame: pd.DataFrame, variables: Variables, rng: Generator) -> pd.DataFrame:
        """Draws nothing at random. Raises PlanError on fewer than 2 records, missing values unless `missing: mean`, and
        too wide a range."""
        released = self.released(variables)
        if len(frame) < 2:  # one record would be the ends of the grey scale, and so come back as it was
            raise PlanError(f"lossy_compression needs at least 2 records; there are {len(frame)}.")
        original = numbers(frame, self.columns)
        gaps = np.isnan(original)
        filled = original.copy()
        for name, values, missing in zip(self.columns, filled.T, gaps.T, strict=True):
            if missing.any() and self.missing == "refuse":
                raise PlanError(
                    f"lossy_compression on '{name}' takes no missing values; there are {missing.sum()}. "
                    "Use missing: mean, or impute them first (multiple_imputation, what: missing)."
                )
            if missing.any():
                values[missing] = 0.0 if missing.all() else values[~missing].mean()
        masked = np.where(gaps, np.nan, compressed(filled, self.quality))
        columns = {
            name: stored(values, released[name]).set_axis(frame.index)
            for name, values in zip(self.columns, masked.T, strict=True)
        }
        return with_columns(frame, columns)

    def attacks(self) -> tuple[Attack, ...]:
        return (LinearChange(self.columns, f"that the file was compressed with a quality of {self.quality}"),)

    def describe(self) -> str:
        said = f"The values of {', '.join(self.columns)} were blurred together, as a compressed image is"
        return said + ("; values are rounded to whole numbers." if self.round else ".")


def compressed(original: FloatArray, quality: int) -> FloatArray:
    """What is left of the values when they have been a JPEG image.

    original : shape (n, d), finite, n and d at least 1
    quality  : 1 to 95
    returns  : shape (n, d), within each column's range; a constant column stays
    raises   : PlanError when a column's range is too wide for a number
    cost     : O(n d) time, two n x d matrices. Records and variables are blurred in blocks of eight by eight, in the
               order in which they stand
    """
    lowest, highest = original.min(axis=0), original.max(axis=0)
    with np.errstate(over="ignore"):
        ranges = highest - lowest
    if not np.isfinite(ranges).all():
        raise PlanError("lossy_compression: the range of a column is too wide to be computed.")
    shades = np.rint((original - lowest) / np.where(ranges > 0, ranges, 1.0) * 255.0).astype(np.uint8)
    images = np.split(shades, range(_IMAGE_ROWS, len(shades), _IMAGE_ROWS))
    pixels = np.vstack([_jpeg(image, quality) for image in images])
    blurred: FloatArray = np.clip(lowest + pixels / 255.0 * ranges, lowest, highest)
    return blurred


def _jpeg(shades: ByteArray, quality: int) -> ByteArray:
    """Grey levels after compression. Shape as given, of 0 to 255."""
    from PIL import Image

    file = BytesIO()
    Image.fromarray(shades).save(file, format="JPEG", quality=quality)
    return np.asarray(Image.open(file))
