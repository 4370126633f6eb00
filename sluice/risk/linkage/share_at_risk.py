"""Share at risk: the part of the examined cases in which an attack succeeds, with what chance may have done to it."""

import numpy as np
import numpy.typing as npt

from sluice.ground.errors import DataError
from sluice.risk.attacks.attack_success import AttackSuccess
from sluice.risk.measurement import Measurement


def share_at_risk(success: npt.NDArray[np.float64], of: int, baseline: float | None = None) -> Measurement:
    """Mean success over the examined cases, as a measurement.

    success  : shape (completed,), 0 to 1 each: 1 / t where the true answer is one of t that are as good
    of       : cases in the file; when fewer were examined, those were drawn at random
    baseline : the share that an intruder reaches by guessing
    returns  : exact when all cases were examined, else with the 95 % interval of Wilson (a success of less than 1
               varies less than one of 0 or 1, so the interval is rather too wide). An exact share below its baseline
               gets the interval from itself to what chance explains, at most the baseline: masking is a game of
               chance, and an intruder can always guess
    raises   : DataError when more cases were examined than there are
    cost     : O(completed)
    """
    completed = len(success)
    if completed > of:
        raise DataError(f"of the {of:,} cases of the file {completed:,} cannot have been examined.")
    if completed == 0:
        return Measurement(value=float("nan"), attempted=0, completed=0, baseline=baseline)
    value = float(success.mean())
    centre, half = AttackSuccess(completed, completed, float(success.sum())).wilson()
    low, high = min(value, max(0.0, centre - half)), max(value, min(1.0, centre + half))  # rounding aside, as they are
    interval: tuple[float, float] | None = None
    if completed < of:
        interval = (low, high)
    elif baseline is not None and value < baseline:
        interval = (value, min(high, baseline))
    return Measurement(value, attempted=completed, completed=completed, interval=interval, baseline=baseline)
