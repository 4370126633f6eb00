"""Whole releases of the public data sets in full size, read from their files by somebody who knows the rules.

Tables of counts by a minimum frequency of 5, through every step of a release: the reader of `tests/reader`, which
shares no code with the product, then has the files, the policy and the definition. Adult: all 48,842 people by
occupation, country and sex, with what contributors know. diabetes130: stays in hospital by age, specialty and race, of
patients who have several, as anybody reads it, and who knows which cells are sensitive.
"""

from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from tests.reader.judge import successes
from tests.reader.play import OWN_PARTS, fewer_than
from tests.reader.reader_house import ReaderHouse
from tests.reader.real_records import Table, adult, diabetes

MOST = 15_000  # stays; of all 101,766 the release alone takes many minutes


def main(quick: bool = False) -> None:
    print(f"{'':<14}{'records':>9}{'cells':>7}{'supp.':>7}{'release':>10}{'sens.':>7}{'reader':>10}  found")
    read("Adult", adult(1_000 if quick else None), together=1)
    read("diabetes130", diabetes(1_000 if quick else MOST), together=0)


def read(name: str, table: Table, together: int) -> None:
    """One release. together: contributors who pool what they know; 0: the reader plays none."""
    records, rows = table
    begun = process_time()
    with TemporaryDirectory() as folder:
        release, truth = ReaderHouse(Path(folder) / "house", records, rows, fewer_than(5)).published()
    released = process_time()
    found = successes(release.published, truth, together, OWN_PARTS)
    table_ = release.published
    print(
        f"{name:<14}{len(records):9,}{len(table_.cells):7,}{int((~table_.known).sum()):7,}{released - begun:8.0f} s"
        f"{found.sensitive:7,}{process_time() - released:8.0f} s  {found.found or 'nothing'}",
        flush=True,
    )
