"""A time-stamping authority of our own, by OpenSSL: its certificates, its answers, and a server that gives them."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

_CONFIGURATION = """
[ req ]
prompt = no
distinguished_name = name
[ name ]
CN = {name}
[ ca ]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign
[ stamps ]
keyUsage = critical, digitalSignature
extendedKeyUsage = critical, timeStamping
[ tsa ]
default_tsa = authority
[ authority ]
serial = {folder}/serial
default_policy = 1.2.3.4.1
digests = sha256, sha384, sha512
signer_digest = sha256
"""


@dataclass
class Authority:
    """Keys and certificates in a folder; `answers` replaces what it would answer to the next requests."""

    folder: Path
    answers: list[bytes] = field(default_factory=list)
    asked: int = 0

    def __post_init__(self) -> None:
        if not shutil.which("openssl"):
            pytest.skip("openssl is not installed")
        self.folder.mkdir()
        configuration = self.folder / "openssl.cnf"
        configuration.write_text(_CONFIGURATION.format(folder=self.folder, name="An authority"))
        self._openssl("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.pem"
                      " -config openssl.cnf -extensions ca -subj /CN=CA -days 30")  # fmt: skip
        self._openssl("req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout tsa.key -out tsa.csr"
                      " -config openssl.cnf")  # fmt: skip
        self._openssl("x509 -req -in tsa.csr -CA ca.pem -CAkey ca.key -out tsa.pem -days 30 -set_serial 7"
                      " -extfile openssl.cnf -extensions stamps")  # fmt: skip

    @property
    def certificates(self) -> Path:
        return self.folder / "ca.pem"

    def answer(self, request: bytes) -> bytes:
        self.asked += 1
        if self.answers:
            return self.answers.pop(0)
        (self.folder / "request.tsq").write_bytes(request)
        self._openssl("ts -reply -queryfile request.tsq -inkey tsa.key -signer tsa.pem -out response.tsr"
                      " -config openssl.cnf")  # fmt: skip
        return (self.folder / "response.tsr").read_bytes()

    def verifies(self, stamp: Path, document: Path) -> bool:
        """As somebody checks it who has nothing of Sluice."""
        command = ["openssl", "ts", "-verify", "-in", stamp, "-data", document, "-CAfile", self.certificates]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    @contextmanager
    def serving(self) -> Iterator[str]:
        """Its address while it answers."""
        authority = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                assert self.headers["Content-Type"] == "application/timestamp-query"
                answer = authority.answer(self.rfile.read(int(self.headers["Content-Length"])))
                self.send_response(200 if answer else 503)
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: object) -> None:
                pass

        server = HTTPServer(("127.0.0.1", 0), Handler)
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/tsa"
        finally:
            server.shutdown()
            thread.join()
            server.server_close()

    def _openssl(self, arguments: str) -> None:
        subprocess.run(["openssl", *arguments.split()], cwd=self.folder, check=True, capture_output=True)
