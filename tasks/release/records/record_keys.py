"""The keys of a release's records: what the contract says names one, as one text each."""

from collections.abc import Sequence

import pandas as pd

from sluice.ground.value_hashes import Hashes
from sluice.publication.records_file import read_typed
from tasks.release.records.variables import RecordsRelease


def key_texts(staged: pd.DataFrame, key: Sequence[str]) -> "pd.Series[str]":
    """Shape (n,); identifiers stand in the staged frame as keyed hashes."""
    joined: pd.Series[str] = staged[key[0]].astype(str)
    for name in key[1:]:
        joined = joined + "\0" + staged[name].astype(str)
    return joined


def noise_keys(release: RecordsRelease) -> Hashes | None:
    """Of each record that is masked: what its noise comes from, so that an unchanged record keeps it in all editions.

    None without a record key, and where the seed is to be destroyed: whoever has the vault could make the noise again.
    """
    key = release.product.contract.record_key
    if not key or release.product.definition.seed == "destroy":
        return None
    path = release.vault.verify(release.original.sha256, ".parquet")
    return release.vault.record_keys(key_texts(read_typed(path, release.staged_variables, key), key).tolist())
