"""A release: one product with one state of its data; its id, its seeds and what the ledger says of it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
import pandas as pd
from pydantic import TypeAdapter

from sluice.custody.edition_order import line_of, overtaken_by
from sluice.custody.ledger import recorded_entries
from sluice.custody.ledger_entry import Entry, last
from sluice.custody.states import State
from sluice.custody.vault import Vault
from sluice.ground.errors import DataError, SluiceError
from sluice.ground.variables import Variable
from sluice.publication.records_file import read_typed
from tasks.release.decisions.signing_in import account
from tasks.release.release_definition import Definition
from tasks.release.release_documents import Documents
from tasks.release.vault.seed_names import as_text, seed_name

P_co = TypeVar("P_co", bound=Documents[Definition], covariant=True)
P = TypeVar("P", bound=Documents[Definition])

_VARIABLES = TypeAdapter(dict[str, Variable])


@dataclass(frozen=True)
class StagedTable:
    """A table in the vault, by the SHA-256 of its Parquet file."""

    sha256: str
    rows: int


@dataclass(frozen=True)
class Seeds:
    """The independent sources of randomness of one release, all children of its one root seed."""

    holdout: np.random.SeedSequence
    plan: np.random.SeedSequence
    order: np.random.SeedSequence
    attack: np.random.SeedSequence


@dataclass(frozen=True)
class Release(Generic[P_co]):
    """The same documents and the same data are always the same release."""

    product: P_co
    id: str
    data: StagedTable  # everything that was ingested
    original: StagedTable  # what is masked: the data without the holdout
    holdout: StagedTable | None
    staged_variables: dict[str, Variable]  # with the categories that were found where the contract declares none

    @property
    def vault(self) -> Vault:
        return self.product.workspace.vault

    @property
    def unit(self) -> str:
        """What a record is, in the plural and in the reader's words."""
        return self.product.contract.records_are

    def read_staged(self, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Everything that was ingested, with the keyed hashes of identifiers that are part of the record key."""
        return read_typed(self.vault.verify(self.data.sha256, ".parquet"), self.staged_variables, columns)

    @property
    def seed_name(self) -> str:
        """The same for all releases of the same data by the same plan, whatever they are called and held to."""
        return seed_name(self.vault, self.data.sha256, as_text(self.product.written.decides_dice()))

    def seeds(self) -> Seeds:
        """The seeds, drawn at the first call, which reads the ledger.

        Raises SluiceError when they were destroyed, DataError when they are lost.
        """
        if not self.vault.has_seed(self.seed_name):
            self._refuse_lost_seed()
        return Seeds(*self.vault.seed(self.seed_name).spawn(4))

    def _refuse_lost_seed(self) -> None:
        """A vault older than its ledger has not all seeds: drawn anew, one would be another throw of the dice, and
        would say of the published records that they are other people's."""
        name = self.seed_name
        for entry in self.product.workspace.ledger.entries():
            of_records = entry.release == self.id and "csv" in entry.body  # before seeds were named
            if entry.event == State.MASKED and (entry.body.get("seed") == name or of_records):
                raise DataError(
                    f"the vault has lost the seed by which {entry.release} was masked, so it is older than its ledger. "
                    "Restore a later backup of the vault; no other seed is drawn in its place."
                )

    @property
    def state(self) -> State | None:
        return self.product.workspace.ledger.state(self.id)

    @property
    def needs_judgement(self) -> bool:
        """Not yet judged, or blocked: judged again from the same seed, a rerun cannot be a second throw of the dice.

        So is one that was overtaken, once what overtook it is withdrawn.
        """
        state = self.state
        if state is State.OVERTAKEN:
            return overtaken_by(*line_of(self.product.workspace.ledger.histories(), self.id)) is None
        return state in (None, State.RECEIVED, State.VALIDATED, State.MASKED, State.EVALUATED, State.BLOCKED)

    def begin_again(self) -> None:
        """Judgement starts at `received`: where an earlier run was lost before review, the same data are so again."""
        received = last(self.entries(), State.RECEIVED)
        if received is not None and self.state is not State.RECEIVED:
            self.record(State.RECEIVED, **received.body)

    @property
    def shelf(self) -> Path:
        """Where it goes, as recorded when it was received: the definition may since have been moved, and with it what
        a relative `target` means."""
        received = last(self.entries(), State.RECEIVED)
        assert received is not None
        return Path(received.body["target"])

    def entries(self) -> list[Entry]:
        return self.product.workspace.ledger.entries(self.id)

    def record(self, event: str, **body: Any) -> Entry:
        """Append an event of this release to the ledger, done by the account of this process."""
        return self.record_as(account(), event, **body)

    def record_as(self, person: str, event: str, expect: Collection[State] | None = None, **body: Any) -> Entry:
        """Append an event that a person of the roster decided, if the release is in one of the states expected."""
        return self.product.workspace.ledger.append(self.id, event, person, body, expect)


DocumentedRelease: TypeAlias = Release[Documents[Definition]]
"""Any release, as far as its documents go; what its product offers, `AnyRelease` has."""


def release_id(product: Documents[Definition], data: StagedTable) -> str:
    """The definition's name and a digest of all that decides the outcome."""
    parts = [data.sha256, *(product.hashes[name] for name in sorted(product.hashes))]
    # Keyed: the id is public, and whoever guesses the data could else see by it that the guess is right.
    digest = product.workspace.vault.pseudonym("release", "\n".join(parts))
    return f"{product.definition.name}-{digest[:12]}"


def recorded_release(product: P, release_id: str) -> Release[P]:
    """The release as the ledger knows it. Raises SluiceError when the documents have changed since."""
    received = last(recorded_entries(product.workspace.ledger, release_id), State.RECEIVED)
    if received is None:
        raise SluiceError(
            f"{release_id} was not received: there is no release yet. See: sluice ledger show {release_id}"
        )
    changed = [name for name, sha256 in product.hashes.items() if received.body[name] != sha256]
    if changed:
        state = product.workspace.ledger.state(release_id)
        voids = "" if state is State.PUBLISHED else ", which voids its approvals"
        raise SluiceError(
            f"the {' and the '.join(changed)} changed since {release_id} was judged{voids}"
            + (f"; it is {state}, and stays so. For the next" if not voids else "; run it anew")
            + f": sluice release {product.path}"
        )
    tables = {
        name: StagedTable(**received.body[name]) if received.body[name] else None
        for name in ("data", "original", "holdout")
    }
    if tables["data"] is None or tables["original"] is None:
        raise SluiceError(f"the ledger's record of {release_id} names no data")
    kept = product.workspace.vault.verify(received.body["variables"], ".json")
    variables = variables_from_json(kept.read_bytes())
    return Release(product, release_id, tables["data"], tables["original"], tables["holdout"], variables)


def variables_as_json(variables: Mapping[str, Variable]) -> bytes:
    """The variables as they are kept in the vault; the same variables give the same bytes."""
    return _VARIABLES.dump_json(dict(variables))


def variables_from_json(content: bytes) -> dict[str, Variable]:
    """The variables that `variables_as_json` wrote."""
    return _VARIABLES.validate_json(content)
