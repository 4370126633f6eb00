"""The office's sign-on as docs/desk.md writes it: a real nginx before the desk, what people send by it and past it."""

import os
import re
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import httpx
import pytest

from deployments.compose.certificate import make
from tests.flows.house import House
from tests.flows.installation import BIN, until
from tests.free_port import free_ports

NGINX = shutil.which("nginx")
DOCS = Path(__file__).resolve().parents[3] / "docs" / "desk.md"
NAME, TITLE = "desk.office.example", "People and their incomes"
# In the place of oauth2-proxy: whoever comes with the cookie has signed on by that name.
SIGN_ON = """
    server {
        listen 127.0.0.1:%d;
        location = /oauth2/auth {
            if ($cookie_signed_on = "") { return 401; }
            add_header X-Auth-Request-User $cookie_signed_on always;
            return 202;
        }
        location / { return 200 "who are you?"; }
    }
"""

pytestmark = [pytest.mark.servers, pytest.mark.skipif(NGINX is None, reason="no nginx is installed")]


@dataclass(frozen=True)
class Proxied:
    port: int
    behind: int  # the port of the desk itself
    certificate: Path

    def browser(self, who: str = "") -> httpx.Client:
        """Of somebody who has signed on by this name, or of nobody."""
        return httpx.Client(
            base_url=f"https://127.0.0.1:{self.port}",
            verify=ssl.create_default_context(cafile=str(self.certificate)),
            headers={"Host": NAME, "Origin": f"https://{NAME}"},
            cookies={"signed_on": who} if who else {},
            event_hooks={"request": [lambda request: request.extensions.update(sni_hostname=NAME)]},
        )


def configured(folder: Path, secret: Path, port: int, desk: int, sign_on: int) -> Path:
    """What the page says, with the files and ports of this test."""
    page = DOCS.read_text(encoding="utf-8")
    [server] = re.findall(r"^    server \{\n.*?^    \}\n", page, re.MULTILINE | re.DOTALL)
    [secret_line] = re.findall(r'printf "(proxy_set_header .*?)\\n"', page)
    included = folder / "sluice-proxy"
    included.write_text(
        secret_line.replace('\\"', '"').replace("%s", secret.read_text(encoding="utf-8").strip()) + "\n"
    )
    make(folder, NAME)
    for written, here in {
        "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
        "/etc/ssl/desk.pem": str(folder / "certificate.pem"),
        "/etc/ssl/private/desk.key": str(folder / "key.pem"),
        "http://127.0.0.1:8321": f"http://127.0.0.1:{desk}",
        "http://127.0.0.1:4180": f"http://127.0.0.1:{sign_on}",
        "/etc/nginx/sluice-proxy": str(included),
    }.items():
        assert written in server
        server = server.replace(written, here)
    temporary = "".join(
        f"    {of}_temp_path {folder / of};\n" for of in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    everybody = "user root;\n" if os.getuid() == 0 else ""
    configuration = folder / "nginx.conf"
    configuration.write_text(
        f"{everybody}daemon off;\npid {folder / 'pid'};\nerror_log {folder / 'errors'};\nevents {{}}\n"
        f"http {{\n    access_log off;\n{temporary}{SIGN_ON % sign_on}{server}}}\n",
        encoding="utf-8",
    )
    return configuration


@pytest.fixture
def proxied(pending: House, tmp_path: Path) -> Iterator[Proxied]:
    port, desk, sign_on = islice(free_ports(), 3)
    options = ["--address", f"https://{NAME}", "--sign-on-header", "X-Remote-User", "--proxy", "127.0.0.1"]
    assert f"sluice desk {' '.join(options)}" in DOCS.read_text(encoding="utf-8")
    environment = os.environ | {"SLUICE_HOME": str(pending.home)}
    started = [subprocess.Popen([BIN / "sluice", "desk", *options, f"--port={desk}"], env=environment)]
    try:
        secret = pending.home / "desk" / "proxy_secret"
        until(lambda: secret.exists() and is_heard(desk), "the desk")
        configuration = configured(tmp_path, secret, port, desk, sign_on)
        assert NGINX is not None
        started.append(subprocess.Popen([NGINX, "-e", str(tmp_path / "errors"), "-c", str(configuration)]))
        until(lambda: is_heard(port), "nginx")
        yield Proxied(port, desk, tmp_path / "certificate.pem")
    finally:
        for process in started:
            process.terminate()
            process.wait()


def is_heard(port: int) -> bool:
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.smoke
def test_who_signed_on_is_let_in_and_nobody_by_a_header_of_their_own(proxied: Proxied) -> None:
    assert TITLE in proxied.browser("amara").get("/").text
    assert proxied.browser().get("/").text == "who are you?"

    # A browser may send what it likes: nginx puts its own in the place of it.
    made_up = {"X-Remote-User": "amara", "X_Remote_User": "amara", "X-Sluice-Proxy": "guessed"}
    assert proxied.browser().get("/", headers=made_up).text == "who are you?"
    told = proxied.browser("mallory").get("/", headers=made_up)
    assert (told.status_code, "Sign out" in told.text, TITLE in told.text) == (401, False, False)
    assert proxied.browser("amara").get("/oauth2/auth").status_code == 404  # what nginx asks for, nobody else does

    # So may whoever has an account of this machine, who reaches the desk itself.
    for headers in ({}, {"X-Remote-User": "amara"}, made_up):
        past_it = httpx.get(f"http://127.0.0.1:{proxied.behind}/", headers={"Host": NAME} | headers)
        assert (past_it.status_code, TITLE in past_it.text) == (401, False)


def test_a_decision_passes_the_proxy_and_a_form_from_elsewhere_or_too_long_does_not(
    proxied: Proxied, pending: House
) -> None:
    amara, page = proxied.browser("amara"), f"/releases/{pending.id}"
    seen = amara.get(page).text
    assert TITLE in seen
    form = dict(re.findall(r'type="hidden" name="(token|seen)" value="([^"]*)"', seen)) | {"what": "approve"}
    assert amara.post(f"{page}/act", data=form, headers={"Origin": "https://evil.example"}).status_code == 403
    assert proxied.browser("jonas").post(f"{page}/act", data=form).status_code == 403  # the token is amara's
    assert amara.post(f"{page}/act", data=form | {"comment": "x" * 300_000}).status_code == 413
    before = pending.events()
    assert amara.post(f"{page}/act", data=form).status_code == 303
    assert len(pending.events()) == len(before) + 1
