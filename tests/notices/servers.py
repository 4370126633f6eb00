"""A mail server and a web server on the loopback, which keep what they take; each can be told to refuse."""

import socket
import socketserver
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import Message
from email.policy import default
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import sleep
from typing import Any


@dataclass
class Mailbox:
    """What the mail server took, and how it answers (SMTP as in RFC 5321)."""

    port: int = 0
    taken: list[tuple[str, Message]] = field(default_factory=list)  # the recipient of the envelope, the message
    logins: list[str] = field(default_factory=list)
    encrypted: list[bool] = field(default_factory=list)
    recipients: dict[str, int] = field(default_factory=dict)  # codes other than 250
    closed: bool = False  # answers 421 to everybody
    pause: float = 0.0  # seconds between two bytes of an answer
    endless: str = ""  # the verb whose answer never ends, line by line

    @property
    def subjects(self) -> list[str]:
        return [str(message["Subject"]) for _, message in self.taken]

    def to(self, address: str) -> list[Message]:
        return [message for recipient, message in self.taken if recipient == address]


class _Conversation(socketserver.StreamRequestHandler):
    server: "_MailServer"

    def handle(self) -> None:
        with suppress(OSError):  # whoever asked has gone
            self._converse()

    def _converse(self) -> None:
        box, recipients, encrypted = self.server.box, [], False
        self._say("421 busy" if box.closed else "220 loopback")
        while line := self.rfile.readline():
            verb, _, rest = line.decode().strip().partition(" ")
            while box.endless == verb.upper():
                self._say("250-and")
            match verb.upper():
                case "EHLO":
                    offers = "AUTH PLAIN" if encrypted or not self.server.tls else "STARTTLS"
                    self._say(f"250-loopback\r\n250 {offers}")
                case "STARTTLS" if self.server.tls:
                    self._say("220 go on")
                    self.connection = self.server.tls.wrap_socket(self.connection, server_side=True)
                    self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb")
                    encrypted = True
                case "AUTH":
                    box.logins.append(rest.partition(" ")[2])
                    self._say("235 welcome")
                case "RCPT":
                    address = rest.partition("<")[2].partition(">")[0]
                    recipients.append(address)
                    self._say(f"{box.recipients.get(address, 250)} noted")
                case "DATA":
                    self._say("354 go on")
                    lines = []
                    while (text := self.rfile.readline()) != b".\r\n":
                        lines.append(text.removeprefix(b"."))
                    message = message_from_bytes(b"".join(lines), policy=default)
                    box.taken += [(recipient, message) for recipient in recipients]
                    box.encrypted.append(encrypted)
                    recipients = []
                    self._say("250 taken")
                case "QUIT":
                    self._say("221 bye")
                    return
                case _:
                    self._say("250 fine")

    def _say(self, text: str) -> None:
        said = f"{text}\r\n".encode()
        for part in [said[place : place + 1] for place in range(len(said))] if self.server.box.pause else [said]:
            self.wfile.write(part)
            self.wfile.flush()
            sleep(self.server.box.pause)


class _MailServer(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True
    box: Mailbox
    tls: ssl.SSLContext | None
    wrapped: bool

    def get_request(self) -> tuple[socket.socket, Any]:
        accepted, address = super().get_request()
        if self.wrapped and self.tls:
            accepted = self.tls.wrap_socket(accepted, server_side=True)
        return accepted, address


@contextmanager
def mail_server(tls: ssl.SSLContext | None = None, *, wrapped: bool = False) -> Iterator[Mailbox]:
    """`tls`: by STARTTLS, or, `wrapped`, from the first byte."""
    with _MailServer(("127.0.0.1", 0), _Conversation) as server:
        server.box, server.tls, server.wrapped = Mailbox(port=server.server_address[1]), tls, wrapped
        threading.Thread(target=server.serve_forever, daemon=True, args=(0.02,)).start()
        yield server.box
        server.shutdown()


@dataclass
class Hook:
    """What was posted, with its headers, and the code of the answer."""

    url: str = ""
    taken: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    code: int = 204
    pause: float = 0.0  # seconds between two bytes of an answer's header
    promised: int = 0  # bytes of an answer that never come


@contextmanager
def web_server() -> Iterator[Hook]:
    hook = Hook()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            hook.taken.append((dict(self.headers), body))
            if hook.pause:
                with suppress(OSError):  # whoever asked has gone
                    for byte in b"HTTP/1.1 200 OK\r\n" + b"X-Slow: 1\r\n" * 1000:
                        self.wfile.write(bytes([byte]))
                        sleep(hook.pause)
                return
            self.send_response(hook.code)
            self.send_header("Location", f"{hook.url}elsewhere")
            self.send_header("Content-Length", str(hook.promised))
            self.end_headers()

        def log_message(self, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        hook.url = f"http://127.0.0.1:{server.server_address[1]}/"
        threading.Thread(target=server.serve_forever, daemon=True, args=(0.02,)).start()
        yield hook
        server.shutdown()
