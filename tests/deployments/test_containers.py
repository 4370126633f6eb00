"""Image, compose file and manifests: nothing runs as root, writes outside its volumes, or is reached by accident."""

import re
import shutil
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import kubernetes_validate
import pytest
import yaml

from flows.cli.main import command_line
from sluice.settings import Settings, settings
from tests.deployments.shipped_settings import DEPLOYMENTS, ROOT

KUBERNETES = "1.37"  # as kubernetes-validate has its schemas
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
COMPOSE = yaml.safe_load((DEPLOYMENTS / "compose" / "compose.yaml").read_text(encoding="utf-8"))
BESIDE_THE_VAULT = ("desk", "schedules", "worker")
OURS = ("certificate", "ledger", "server", *BESIDE_THE_VAULT)
COMMANDS = {("sluice", "worker"), ("sluice", "desk"), ("prefect", "server")}


def manifests() -> Iterator[dict[str, Any]]:
    for path in sorted((DEPLOYMENTS / "kubernetes").glob("*.yaml")):
        yield from (each for each in yaml.load_all(path.read_bytes(), yaml.CSafeLoader) if each)


def of_kind(*kinds: str) -> dict[str, dict[str, Any]]:
    return {each["metadata"]["name"]: each for each in manifests() if each["kind"] in kinds}


WORKLOADS = of_kind("Deployment", "Job")


def pod(name: str) -> dict[str, Any]:
    found: dict[str, Any] = WORKLOADS[name]["spec"]["template"]["spec"]
    return found


# -- the image


def test_the_image_is_built_of_what_is_there_and_runs_without_privileges() -> None:
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE)
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    sources = {source for line in copied for source in line.split()}
    assert sources == allowed, "what is copied, and no more, is sent to the builder"
    assert all((ROOT / source).exists() for source in sources)
    assert re.search(r"^USER 10001:10001$", DOCKERFILE, re.MULTILINE)
    assert "://" not in DOCKERFILE, "no registry is named"


def test_only_packages_of_the_product_are_copied() -> None:
    import tomllib

    found = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    packages = {name.rstrip("*") for name in found["tool"]["setuptools"]["packages"]["find"]["include"]}
    assert packages <= set(re.findall(r"^COPY (\w+) \w+$", DOCKERFILE, re.MULTILINE))


# -- compose


@pytest.mark.parametrize("service", OURS)
def test_each_service_of_compose_is_closed(service: str) -> None:
    found = COMPOSE["services"][service]
    assert found["read_only"] is True
    assert found["user"] == "10001:10001"
    assert found["cap_drop"] == ["ALL"]
    assert found["security_opt"] == ["no-new-privileges:true"]


def test_compose_opens_ports_to_this_machine_alone_and_keeps_database_and_worker_inside() -> None:
    for name, service in COMPOSE["services"].items():
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", [])), name
    inner = {name for name, network in COMPOSE["networks"].items() if network and network.get("internal")}
    assert set(COMPOSE["services"]["database"]["networks"]) <= inner
    assert set(COMPOSE["services"]["worker"]["networks"]) <= inner
    assert set(COMPOSE["services"]["schedules"]["networks"]) <= inner


def test_the_vault_is_the_office_s_alone_and_the_keeper_s_password_the_ledger_s() -> None:
    mounts = {name: str(service.get("volumes", "")) for name, service in COMPOSE["services"].items()}
    assert [name for name, volumes in mounts.items() if "vault:" in volumes] == ["worker", "desk", "schedules"]
    assert all("/srv/project:ro" in mounts[name] for name in BESIDE_THE_VAULT)
    keepers = [name for name, service in COMPOSE["services"].items() if "KEEPER" in str(service.get("environment"))]
    assert sorted(keepers) == ["database", "ledger"]


@pytest.mark.chain
def test_notices_go_to_the_catcher_of_mail_by_a_certificate_that_the_worker_trusts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without TLS the worker mails to no other machine, and the catcher is one: it would stay empty."""
    worker, mail, certificate = (COMPOSE["services"][name] for name in ("worker", "mail", "certificate"))
    settings = worker["environment"]
    monkeypatch.setenv("SLUICE_SMTP_URL", settings["SLUICE_SMTP_URL"])
    monkeypatch.setenv("SLUICE_MAIL_FROM", settings["SLUICE_MAIL_FROM"])
    server = Settings().mail_server
    assert server is not None
    assert settings["SSL_CERT_FILE"] == mail["environment"]["MP_SMTP_TLS_CERT"]
    assert "mail:/srv/mail:ro" in worker["volumes"]
    assert "mail:/srv/mail:ro" in mail["volumes"]
    _, program, folder = certificate["command"]
    assert f"mail:{folder}" in certificate["volumes"]
    program = DEPLOYMENTS / "compose" / program.lstrip("/")
    for _ in range(2):  # the second time it finds them
        subprocess.run([sys.executable, program, tmp_path], check=True)
    assert (tmp_path / "key.pem").stat().st_mode & 0o777 == 0o600
    trusting = ssl.create_default_context(cafile=tmp_path / "certificate.pem")
    serving = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    serving.load_cert_chain(tmp_path / "certificate.pem", tmp_path / "key.pem")
    ours, theirs = socket.socketpair()
    with ThreadPoolExecutor() as pool, ours, theirs:
        answering = pool.submit(serving.wrap_socket, theirs, server_side=True)
        with trusting.wrap_socket(ours, server_hostname=server.host) as spoken, answering.result():
            assert spoken.version() == "TLSv1.3"


def test_no_password_stands_in_a_file() -> None:
    asked = set(re.findall(r"\$\{(\w+):\?", (DEPLOYMENTS / "compose" / "compose.yaml").read_text()))
    example = (DEPLOYMENTS / "compose" / "environment.example").read_text()
    assert asked == set(re.findall(r"^(\w+)=$", example, re.MULTILINE)), "each is asked for, and none is given"
    assert not of_kind("Secret")


# -- Kubernetes


def test_every_manifest_is_listed() -> None:
    [kustomization] = [each for each in manifests() if each["kind"] == "Kustomization"]
    files = {path.name for path in (DEPLOYMENTS / "kubernetes").glob("*.yaml")}
    assert set(kustomization["resources"]) == files - {"kustomization.yaml"}


@pytest.mark.parametrize("workload", sorted(WORKLOADS))
def test_each_pod_meets_the_restricted_standard_and_writes_to_volumes_only(workload: str) -> None:
    spec = pod(workload)
    assert spec["automountServiceAccountToken"] is False
    assert spec["enableServiceLinks"] is False
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    volumes = {volume["name"] for volume in spec.get("volumes", [])}
    for container in [*spec.get("initContainers", []), *spec["containers"]]:
        closed = container["securityContext"]
        assert closed["allowPrivilegeEscalation"] is False
        assert closed["readOnlyRootFilesystem"] is True
        assert closed["capabilities"] == {"drop": ["ALL"]}
        assert {mount["name"] for mount in container.get("volumeMounts", [])} <= volumes
    for container in spec["containers"]:
        assert "memory" in container["resources"]["limits"]


def test_there_is_one_worker_and_the_vault_is_its_alone() -> None:
    worker = WORKLOADS["worker"]["spec"]
    assert (worker["replicas"], worker["strategy"]) == (1, {"type": "Recreate"})
    claims = {
        name: {volume.get("persistentVolumeClaim", {}).get("claimName") for volume in pod(name).get("volumes", [])}
        for name in WORKLOADS
    }
    assert [name for name, claimed in claims.items() if "vault" in claimed] == ["worker"]
    assert of_kind("PersistentVolumeClaim")["vault"]["spec"]["accessModes"] == ["ReadWriteOncePod"]
    assert [each["name"] for each in pod("worker")["containers"]] == ["worker", "desk", "schedules"]
    for container in pod("worker")["containers"]:
        [project] = [each for each in container["volumeMounts"] if each["name"] == "project"]
        assert project["readOnly"] is True


def commands_of(script: str) -> list[list[str]]:
    """The commands of ours in a shell script, a list of words each."""
    return [line.split()[1:] for line in map(str.strip, script.splitlines()) if line.startswith("sluice ")]


def test_what_is_done_by_the_clock_are_commands_that_exist() -> None:
    script = (DEPLOYMENTS / "kubernetes" / "schedules.sh").read_text(encoding="utf-8")
    called = commands_of(script)
    assert called == [
        ["doctor", "--repair"], ["remind"], ["ledger", "verify"], ["vault", "prune"], ["reassess"],
    ]  # fmt: skip
    for words in called:
        command = command_line()
        for word in words:
            if word.startswith("-"):
                assert word in {option for each in command.params for option in each.opts}
            else:
                command = command.commands[word]
    [generated] = [each for each in manifests() if "configMapGenerator" in each]
    assert generated["configMapGenerator"] == [{"name": "schedules", "files": ["schedules.sh"]}]
    assert pod("worker")["shareProcessNamespace"] is True
    assert COMPOSE["services"]["schedules"]["pid"] == "service:worker", "the doctor sees the runs that are at work"
    assert "../kubernetes/schedules.sh:/schedules.sh:ro" in COMPOSE["services"]["schedules"]["volumes"]


def test_the_desk_is_asked_by_the_name_that_it_answers_to() -> None:
    [desk] = [each for each in pod("worker")["containers"] if each["name"] == "desk"]
    address = urlsplit(desk["args"][desk["args"].index("--address") + 1])
    assert address.scheme == "https"
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        asked = desk[probe]["httpGet"]
        assert asked["httpHeaders"] == [{"name": "Host", "value": address.netloc}], probe
    [port] = {each["containerPort"] for each in desk["ports"]}
    [service] = of_kind("Service")["desk"]["spec"]["ports"]
    assert service["port"] == port == 8321


def test_no_secret_is_typed_on_a_command_line() -> None:
    told = (DEPLOYMENTS / "kubernetes" / "secrets.md").read_text(encoding="utf-8")
    assert "--from-literal" not in told
    assert "umask 077" in told


@pytest.mark.servers
def test_kustomize_builds_what_the_schemas_of_kubernetes_allow() -> None:
    if not (kubectl := shutil.which("kubectl")):
        pytest.skip("kubectl is not installed")
    built = subprocess.run([kubectl, "kustomize", DEPLOYMENTS / "kubernetes"], capture_output=True, text=True)
    assert (built.returncode, built.stderr) == (0, "")
    for manifest in yaml.load_all(built.stdout, yaml.CSafeLoader):
        kubernetes_validate.validate(manifest, KUBERNETES, strict=True)


def test_what_is_not_named_is_closed_and_every_name_leads_to_a_pod() -> None:
    policies = of_kind("NetworkPolicy")
    assert policies["nothing"]["spec"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    labels = {WORKLOADS[name]["spec"]["template"]["metadata"]["labels"]["app"] for name in WORKLOADS}
    named = set(re.findall(r"'app': '(\w+)'", str(policies))) | {
        value
        for policy in policies.values()
        for expression in policy["spec"]["podSelector"].get("matchExpressions", [])
        for value in expression["values"]
    }
    assert named == labels
    assert all(of["spec"]["selector"]["app"] in labels for of in of_kind("Service").values())
    opened = {
        rule["port"]
        for policy in policies.values() if policy["spec"]["podSelector"] != {"matchLabels": {"app": "server"}}
        for ingress in policy["spec"].get("ingress", ()) for rule in ingress["ports"]
    }  # fmt: skip
    assert opened == {8321}, "the desk is called, and nobody calls the worker"


def test_the_worker_reaches_what_its_settings_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mail server or webhook that is set and cannot be reached would leave every notice in the outbox."""
    chosen = of_kind("ConfigMap")["worker"]["data"]
    for name in (*chosen, "SLUICE_WEBHOOK_SECRET"):
        monkeypatch.setenv(name, chosen.get(name, "a secret of two machines"))
    read = settings()
    assert read.mail_server is not None
    assert read.webhook_url is not None
    opened = {
        each["port"]
        for policy in of_kind("NetworkPolicy").values()
        if policy["spec"]["podSelector"] == {"matchLabels": {"app": "worker"}}
        for rule in policy["spec"].get("egress", [])
        if any("ipBlock" in to for to in rule["to"])
        for each in rule["ports"]
    }
    assert {read.mail_server.port, urlsplit(read.webhook_url).port or 443} <= opened


def test_settings_and_secrets_that_pods_take_are_there_or_told_of() -> None:
    told = (DEPLOYMENTS / "kubernetes" / "secrets.md").read_text(encoding="utf-8")
    for name in WORKLOADS:
        for source in pod(name)["containers"][0].get("envFrom", []):
            if "configMapRef" in source:
                assert source["configMapRef"]["name"] in of_kind("ConfigMap")
            else:
                assert f"secret generic {source['secretRef']['name']} " in told


def test_containers_run_commands_that_exist() -> None:
    from flows.cli.main import app

    commands = {group.callback.__name__ for typer in app.registered_groups for group in typer.typer_instance.registered_commands if group.callback}  # noqa: E501  # fmt: skip
    assert "worker" in commands
    for name in ("server", "worker"):
        assert tuple(COMPOSE["services"][name]["command"][:2]) in COMMANDS
        assert tuple(pod(name)["containers"][0]["args"][:2]) in COMMANDS
    assert pod("ledger")["containers"][0]["args"] == COMPOSE["services"]["ledger"]["command"]


def test_the_roles_of_the_database_are_those_of_the_documentation() -> None:
    made = (DEPLOYMENTS / "compose" / "roles.sh").read_text(encoding="utf-8")
    text = Path(ROOT / "docs" / "deployment.md").read_text(encoding="utf-8")
    for role in ("prefect", "ledger_keeper", "sluice"):
        assert f"CREATE ROLE {role} LOGIN" in made
        assert f"CREATE ROLE {role} LOGIN" in text
