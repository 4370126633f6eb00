"""Costs with secret noise, so that nobody can run the search again and see which values it had before it.

The cheapest safe pattern follows from the values: a reader who knows the method could list the tables that fit what is
published, run it on each, and keep those that give the pattern that was published. With noise of which only the agency
has the secret, every pattern of which no cell can be spared is the cheapest under some costs; no table that fits is
excluded but those of which the pattern would not be safe, or would have cells to spare.

Source: Wong, Fu, Wang and Pei (2007) for the attack, on classes of records.
"""

import hashlib

import numpy as np

from sluice.tabular.model.cells import Cells, Floats

SPREAD = 0.25  # of the logarithm of the costs


def noisy_costs(cells: Cells, cost: Floats, secret: bytes) -> Floats:
    """The costs, each multiplied by log-normal noise that the secret and the cell's codes determine; shape (c,).

    cost   : shape (c,), 0 or more; 0 stays 0
    secret : 1 to 64 bytes. The same secret gives the same cell the same noise in every edition and table, so that
             patterns of a series do not change more than its values do
    cost   : O(c)
    """
    from scipy.special import ndtri  # loaded where it is needed

    keyed = hashlib.blake2b(digest_size=8, key=secret, person=b"cost noise")
    digests = bytearray()
    for cell in range(len(cells)):
        one = keyed.copy()
        one.update(cells.name(cell).encode())
        digests += one.digest()
    share = (np.frombuffer(bytes(digests), dtype="<u8") / 2.0**64).clip(2.0**-53, 1 - 2.0**-53)
    noisy: Floats = cost * np.exp(SPREAD * ndtri(share))
    return noisy
