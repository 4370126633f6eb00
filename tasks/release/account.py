"""Who runs this process, as the operating system knows it."""

import os
import pwd
from pathlib import Path

_LOGIN = Path("/proc/self/loginuid")  # Linux: who logged in; sudo and su leave it as it is, and only root can change it


def account() -> str:
    """The operating-system account of whoever runs this process; read from the system, never from the environment.

    Only the vault's owner can open the vault, so people run commands as that account, through sudo: then it is the
    account that they logged in with. Without a login (a service, a container) it is the account of the process.
    """
    try:
        return pwd.getpwuid(int(_LOGIN.read_text())).pw_name
    except (OSError, ValueError, OverflowError, KeyError):  # no such file; nobody logged in, or nobody known here
        return pwd.getpwuid(os.geteuid()).pw_name
