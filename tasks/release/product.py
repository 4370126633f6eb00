"""What every product of the chain offers: records and tables are the two that there are."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeAlias, TypeVar

from policies.approvals import Subject
from sluice.ground.verdict import Finding
from sluice.publication.manifest import PublishedFile
from sluice.report.dossier import Dossier, RecordsView, TablesView
from tasks.release.documented_release import Release
from tasks.release.release_definition import Definition
from tasks.release.release_documents import D_co, Documents


class Produced(Protocol):
    """What was made of the data, as staged in the vault."""

    @property
    def hashes(self) -> Mapping[str, str]:
        """What an approval of it is bound to: name -> SHA-256."""


class Evaluated(Protocol):
    """What was measured of it: aggregates only."""

    @property
    def findings(self) -> tuple[Finding, ...]: ...


M = TypeVar("M", bound=Produced)
E = TypeVar("E", bound=Evaluated)


class Product(Documents[D_co], ABC, Generic[D_co, M, E]):
    """The documents of a release, and all in which one kind of release differs from another.

    D_co : its definition
    M    : what masking or protection makes
    E    : what is measured of it
    """

    editions_rules: ClassVar[tuple[str, ...]]  # of the findings of `compare_editions`

    @abstractmethod
    def refuse_unfit(self) -> None:
        """Raise DocumentError, by the field of the definition, when the documents do not fit together."""

    @abstractmethod
    def warnings(self) -> list[str]:
        """Why the documents alone let a release end blocked; one sentence each."""

    @abstractmethod
    def refuse_unfit_data(self, release: Release[Any]) -> None:
        """Raise DataError when what was found in the data does not fit the documents."""

    @abstractmethod
    def plan_in_words(self) -> tuple[str, ...]:
        """What is done to the data: one sentence for each step, in order."""

    @abstractmethod
    def view(self, release: Release[Any], made: M | None, evaluation: E | None) -> RecordsView | TablesView:
        """What the dossier says of this product alone."""

    @abstractmethod
    def files(self, subject: Subject) -> dict[str, tuple[str, str]]:
        """The data files that are approved and published: name -> SHA-256 and ending in the vault."""

    @abstractmethod
    def descriptions(
        self, release: Release[Any], dossier: Dossier, files: Sequence[PublishedFile], at: datetime
    ) -> dict[str, bytes]:
        """The files that describe the data files to those who use them, the Data Package descriptor among them.

        at : when the publication began; the same arguments give the same bytes
        """

    @abstractmethod
    def read_back(self, release: Release[Any], place: Callable[[str], Path]) -> list[str]:
        """What is wrong with the data files, read as their users will read them; in words without values.

        place : where the file of this name lies
        """

    @abstractmethod
    def compare_editions(self, release: Release[Any]) -> list[Finding]:
        """Whether this release, compared with others that the public could read, gives away what neither tells."""

    @property
    def destroys_seed(self) -> bool:
        """Whether publication destroys the seed, so that nobody can undo the noise."""
        return False


AnyProduct: TypeAlias = Product[Definition, Any, Any]
AnyRelease: TypeAlias = Release[AnyProduct]
