"""Mail: a notice as a message to one person, by the agency's server; and which web addresses one may be posted to."""

import io
import re
import smtplib
import socket
import ssl
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate
from time import monotonic
from typing import Annotated, Any
from urllib.parse import unquote, urlsplit

from pydantic import AfterValidator

from sluice.notices.notice import Notice, NoticeDelayedError, NoticeRefusedError, RecipientDelayedError

LOOPBACK = ("localhost", "127.0.0.1", "::1")
"""This very machine: what goes there need not be encrypted."""

_WAIT = 10.0  # seconds for each answer of the server
_IN_ALL = 30.0  # seconds for a mail: a server that says a byte at a time would have it go on for ever
_ADDRESS = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?")


def _plain_address(written: str) -> str:
    if not _ADDRESS.fullmatch(written):
        raise ValueError("must be one address such as amara@agency.example, in ASCII and without a name")
    return written


Address = Annotated[str, AfterValidator(_plain_address)]
"""An address of one mailbox: nothing in it can be a second one, a name or another header."""


@dataclass(frozen=True)
class MailServer:
    """A server that takes mail. What is sent to it is encrypted, but on this very machine."""

    host: str
    port: int
    wrapped: bool  # TLS from the first byte, else STARTTLS
    user: str = ""
    password: str = field(default="", repr=False)

    @classmethod
    def parse(cls, url: str, password: str = "") -> "MailServer":
        """A server by its URL, `smtps://user@host:465` or `smtp://user@host:587`. Raises ValueError."""
        parts = urlsplit(url)
        if parts.scheme not in ("smtp", "smtps") or not parts.hostname or parts.path.strip("/") or parts.query:
            raise ValueError("must be such as smtps://user@mail.agency.example:465 or smtp://mail.agency.example:587")
        if parts.password is not None:
            raise ValueError("must hold no password: SLUICE_SMTP_PASSWORD has it")
        wrapped = parts.scheme == "smtps"
        port = parts.port or (465 if wrapped else 587)
        return cls(parts.hostname, port, wrapped, unquote(parts.username or ""), password)

    def send(self, notice: Notice, sender: str, recipient: str) -> None:
        """Hand a notice over, for good: the server has taken it when this returns.

        raises : NoticeRefusedError when the server refuses the recipient or the message for good; RecipientDelayedError
                 when it asks to come again with this one, as where a mailbox is full; NoticeDelayedError when it cannot
                 be reached or trusted, or takes nothing now. No text of the server's is in any of them
        cost   : up to 10 s for each answer, and to 30 s once it is connected
        """
        try:
            with self._connected() as server:
                server.send_message(message(notice, sender, recipient), sender, [recipient])
        except smtplib.SMTPRecipientsRefused as refused:
            raise _answered(next(iter(refused.recipients.values()))[0]) from None
        except smtplib.SMTPAuthenticationError as refused:
            raise NoticeDelayedError(f"the mail server lets nobody in by this password ({refused.smtp_code})") from None
        except smtplib.SMTPResponseException as refused:
            if isinstance(refused, smtplib.SMTPDataError):
                raise _answered(refused.smtp_code) from None
            raise NoticeDelayedError(f"the mail server answers {refused.smtp_code}") from None
        except (OSError, smtplib.SMTPException) as error:
            raise NoticeDelayedError(f"the mail server cannot be reached ({type(error).__name__})") from None

    def _connected(self) -> smtplib.SMTP:
        if self.wrapped:
            trusted = ssl.create_default_context()
            server: smtplib.SMTP = _WrappedConversation(self.host, self.port, timeout=_WAIT, context=trusted)
        else:
            server = _Conversation(self.host, self.port, timeout=_WAIT)
        try:
            if not self.wrapped and self.host not in LOOPBACK:
                # Raises where the server offers none: nothing goes out in the open.
                server.starttls(context=ssl.create_default_context())
            if self.user:
                server.login(self.user, self.password)
        except BaseException:
            server.close()
            raise
        return server


class _Conversation(smtplib.SMTP):
    """One that ends in time, whatever the server says and however slowly."""

    _deadline = 0.0

    def getreply(self) -> tuple[int, bytes]:
        if self.file is None and self.sock is not None:  # the first answer, and the first by STARTTLS
            self._deadline = self._deadline or monotonic() + _IN_ALL
            self.file = io.BufferedReader(_Answers(self.sock, self._deadline))
        return super().getreply()


class _WrappedConversation(_Conversation, smtplib.SMTP_SSL):
    """The same with TLS from the first byte."""


class _Answers(io.RawIOBase):
    """What a server says, up to a time of `monotonic`; raises TimeoutError after that."""

    def __init__(self, said: socket.socket, deadline: float) -> None:
        self._said, self._deadline = said, deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        left = self._deadline - monotonic()
        if left <= 0:
            raise TimeoutError
        self._said.settimeout(min(_WAIT, left))
        return self._said.recv_into(buffer)


def _answered(code: int) -> NoticeRefusedError | NoticeDelayedError:
    """What a code means that stands against one recipient or message; by 421 the server goes away."""
    says = f"the mail server answers {code}"
    if code >= 500:
        return NoticeRefusedError(says)
    return NoticeDelayedError(says) if code == 421 else RecipientDelayedError(says)


def message(notice: Notice, sender: str, recipient: str) -> EmailMessage:
    """The notice as a message. By its Message-ID a mailbox knows one that comes a second time."""
    domain = sender.partition("@")[2]
    made = EmailMessage(policy=SMTP)
    made["Subject"] = f"[Sluice] {notice.about}: {notice.event.replace('_', ' ')}"
    made["From"], made["To"] = sender, recipient
    made["Date"] = formatdate()
    made["Message-ID"] = f"<{_token(notice.id)}.{_token(recipient.partition('@')[0])}@{domain}>"
    made["References"] = f"<{_token(notice.about)}@{domain}>"  # all of one release are a thread
    made["Auto-Submitted"] = "auto-generated"  # RFC 3834: no answer by a machine
    made.set_content(notice.text)
    return made


def _token(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9-]", "_", text)


def is_safe(url: str) -> bool:
    """Whether what is posted there is encrypted on its way, or stays on this machine."""
    parts = urlsplit(url)
    return bool(parts.hostname) and (parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK))
