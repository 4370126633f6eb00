"""The workspace: the folder of one installation, with its vault, ledger and reports.

Commands outside a release may write over nothing that is read, kept or published.
"""

import os
import pwd
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from sluice.custody.ledger import Ledger
from sluice.custody.vault import Vault
from sluice.ground.durable import disk_of, make_folder
from sluice.ground.errors import SluiceError
from sluice.settings import settings


@dataclass(frozen=True)
class Workspace:
    home: Path
    vault: Vault
    ledger: Ledger
    reports: Path  # one HTML report a release; aggregates only, yet not public before the release is
    data_docs: Path  # of Great Expectations

    @classmethod
    def open(cls, home: Path, ledger_url: str | None = None, follows: bool = False) -> Self:
        """Open the workspace at `home`, making what is missing; the ledger is `home/ledger.db` unless a URL is given.

        follows: for a process that lives long, see `Ledger`
        raises : SluiceError when it is another account's, others can write in it, or the vault or the ledger cannot
                 be opened; DataError when the disk is full
        """
        home = home.absolute()
        with disk_of(f"the disk of {home}"):
            make_folder(home, 0o700)
        found = home.stat()
        if found.st_uid != os.geteuid():  # root, whose files the owner could not read
            owner = _named(found.st_uid)
            raise SluiceError(
                f"{home} belongs to the account {owner}, and this is {_named(os.geteuid())}: what it writes there, "
                f"{owner} could not read. Run it as that account, with sudo -u"
            )
        if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise SluiceError(
                f"{home} can be written by other accounts, which could put another vault or ledger there. "
                f"Run: chmod go-w {home}"
            )
        vault = Vault(home / "vault")
        reports, data_docs = home / "reports", home / "data_docs"
        with disk_of(f"the disk of {home}"):
            for folder in (reports, data_docs):
                make_folder(folder, 0o700)
            if ledger_url is None:
                ledger_url = own_ledger(home)
                # SQLite itself would let others read it
                os.close(os.open(home / "ledger.db", os.O_RDWR | os.O_CREAT, 0o600))
        ledger = Ledger(ledger_url, vault.ledger_key(), vault.anchor, may_begin=not vault.is_in_use, follows=follows)
        return cls(home, vault, ledger, reports, data_docs)


def open_workspace(follows: bool = False) -> Workspace:
    """The workspace of `SLUICE_HOME` (default ./.sluice), its ledger at `SLUICE_LEDGER_URL` (default SQLite in it).

    follows: for a process that lives long, see `Ledger`
    """
    chosen = settings()
    return Workspace.open(chosen.home, chosen.ledger_url, follows)


def own_ledger(home: Path) -> str:
    """The URL of the ledger that lies in the workspace itself, where no other is named."""
    return f"sqlite:///{home / 'ledger.db'}"


def _named(account: int) -> str:
    try:
        return pwd.getpwuid(account).pw_name
    except KeyError:
        return f"number {account}"
