"""`make data`: the data of the shipped release definitions, into ./data.

Adult, Census-Income (KDD) and Diabetes 130-US hospitals come from the UCI Machine Learning Repository (CC BY 4.0), and
are believed by their SHA-256 alone. Where the folder of reference data has them, they are read there and not
downloaded. Census and NHANES III are tables of R packages, published in R's own format only: where the folder lacks
them, R writes them. The warehouse of the fair survey is made from what statsmodels carries.
"""

import gzip
import hashlib
import os
import shutil
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import IO
from urllib.parse import urldefrag
from urllib.request import urlopen

import yaml

from deployments.warehouse import build_warehouse, write_connections

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "data"
REFERENCE_DATA = Path(os.environ.get("SLUICE_REFERENCE_DATA", ROOT.parent / "shared" / "data"))

_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
_BLOCK = 1 << 20


class FetchError(Exception):
    """What could not be had, and what to do about it."""


@dataclass(frozen=True)
class DataFile:
    """A file, gzipped if its name says so: its name in ./data, its origin, and the SHA-256 of what is in it."""

    name: str
    origin: str  # an address, with #member of a zip archive, or the commands in R that write it
    sha256: str
    reference: str  # its place in the folder of reference data

    @property
    def is_downloaded(self) -> bool:
        return self.origin.startswith(("https://", "http://"))


FILES = (
    DataFile(
        "adult.data.gz",
        f"{_UCI}/adult/adult.data",
        "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
        "adult/adult.data.gz",
    ),
    DataFile(
        "census-income.data.gz",
        f"{_UCI}/census-income-mld/census-income.data.gz",
        "3676a81db7d3528f3f8b9f3c699d0f0aa28db45e6e994fa0b8ed38327539ee86",
        "kdd_census_income/census_income_1994_1995_train.csv.gz",
    ),
    DataFile(
        "census-income.test.gz",
        f"{_UCI}/census-income-mld/census-income.test.gz",
        "98402b1ab879573d0a7f38a699a40258080e25e33d3401e7bf9c96d3fa0fab8c",
        "kdd_census_income/census_income_1994_1995_test.csv.gz",
    ),
    DataFile(
        "census.csv",
        "write.csv(sdcMicro::CASCrefmicrodata, 'census.csv', row.names = FALSE, quote = FALSE)",
        "40fb91564d4379274610e941161fd38729adb471bddb9c71d7c01ef142fd0f5b",
        "casc/census.csv",
    ),
    DataFile(
        "nhanes3.csv.gz",
        "write.csv(BioAge::NHANES3, gzfile('nhanes3.csv.gz'), row.names = FALSE, na = '')",
        "2c0d246352cd1573f856aca029716ab541abff23c564698d33ad8d31ab3527f5",
        "nhanes_bioage/NHANES3.csv.gz",
    ),
    DataFile(
        "diabetes130.csv.gz",
        f"{_UCI}/00296/dataset_diabetes.zip#dataset_diabetes/diabetic_data.csv",
        "0689e7ec031237dc63031b938805c48377748761a3b26acab621567afa24df97",
        "diabetes130/diabetic_data.csv.gz",
    ),
    DataFile(
        "enterprises.csv.gz",
        "write.csv(rtauargus::indiv_dt, gzfile('enterprises.csv.gz'), row.names = FALSE, quote = FALSE)",
        "e3e16078f01b1a1b76d601751dacc2358bc16fae62876d14b567934a58a39623",
        "business_indiv_dt/indiv_dt.csv.gz",
    ),
)


def provide(file: DataFile, folder: Path = FOLDER, reference: Path = REFERENCE_DATA) -> str:
    """Have the file in the folder; a word on where it comes from. Raises FetchError, and then leaves nothing behind."""
    target, known = folder / file.name, reference / file.reference
    if target.is_file():
        if file.is_downloaded and _sha256(target) != file.sha256:  # what R writes differs in its digits
            raise FetchError(f"{target} holds something else than {file.origin}. Remove it and run this again.")
        return "is there"
    folder.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)  # a link to where nothing is any more
    if known.is_file() and _sha256(known) == file.sha256:
        target.symlink_to(known.resolve())
        return f"is that of {reference}"
    if not file.is_downloaded:
        raise FetchError(
            f"{target} is a table of an R package. In R: {file.origin}; then put the file there, or name a folder of "
            "reference data in SLUICE_REFERENCE_DATA."
        )
    partial = folder / f".{file.name}.partial"
    try:
        _download(file.origin, partial, target)
        if _sha256(partial) != file.sha256:
            raise FetchError(f"{file.origin} holds something else than it did: its SHA-256 must be {file.sha256}.")
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    return f"was downloaded from {file.origin}"


def _download(url: str, to: Path, target: Path) -> None:
    try:
        with urlopen(url, timeout=60) as answer, _content(answer, url) as content, gzip.open(to, "wb") as kept:
            shutil.copyfileobj(content, kept, _BLOCK)
    except (OSError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise FetchError(
            f"{url} cannot be downloaded ({getattr(error, 'reason', error)}). Without a network: put the file, "
            f"gzipped, at {target}, or name a folder of reference data in SLUICE_REFERENCE_DATA."
        ) from None


@contextmanager
def _content(answer: IO[bytes], url: str) -> Iterator[IO[bytes]]:
    archive, member = urldefrag(url)
    if archive.endswith(".zip"):
        with zipfile.ZipFile(BytesIO(answer.read())) as opened, opened.open(member) as content:
            yield content
        return
    if not url.endswith(".gz"):
        yield answer
        return
    with gzip.open(answer) as content:
        yield content  # type: ignore[misc]


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    try:
        with gzip.open(path) if path.name.endswith((".gz", ".partial")) else path.open("rb") as content:
            while block := content.read(_BLOCK):
                digest.update(block)
    except (OSError, EOFError):
        return "no whole gzip file"
    return digest.hexdigest()


def main() -> int:
    failed = False
    for file in FILES:
        try:
            print(f"{FOLDER / file.name} {provide(file)}")
        except FetchError as error:
            failed = True
            print(error, file=sys.stderr)
    warehouse = FOLDER / "warehouse.duckdb"
    if not warehouse.exists():
        print(f"{warehouse} has {build_warehouse(warehouse):,} records of the fair survey")
    connections, read = FOLDER / "connections.yaml", [ROOT, REFERENCE_DATA.resolve()]
    # Named at the second try, where there was no network, another folder of reference data must be read as well.
    if not connections.exists() or str(read[1]) not in yaml.safe_load(connections.read_text("utf-8")).get("files", []):
        write_connections(connections, warehouse, read)
    print(f"To release from them:\n\n    export SLUICE_CONNECTIONS={connections}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
