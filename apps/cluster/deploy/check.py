#!/usr/bin/env python3
"""Checks the files of this folder as far as this machine can: YAML, the Containerfile, and the server's configuration."""

import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parents[2]
INSTRUCTIONS = {"FROM", "RUN", "COPY", "WORKDIR", "ENTRYPOINT", "CMD", "ENV", "ARG", "USER", "EXPOSE", "VOLUME", "LABEL"}


def containerfile():
    """Every instruction is known, the first is FROM, and what is copied from the build context is there."""
    text = (REPOSITORY / "Containerfile").read_text().replace("\\\n", " ")
    lines = [line.split() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    assert lines[0][0] == "FROM", "the Containerfile does not begin with FROM"
    for words in lines:
        assert words[0] in INSTRUCTIONS, f"Containerfile: {words[0]}"
        if words[0] == "COPY" and not words[1].startswith("--from"):
            assert (REPOSITORY / words[1]).exists(), f"Containerfile: {words[1]} is not there"


def manifests():
    try:
        import yaml
    except ImportError:
        print("skipped: PyYAML is not installed, so the manifests are not read")
        return
    compose = yaml.safe_load((HERE / "compose.yaml").read_text())
    assert set(compose["services"]) == {"nats", "leader", "worker"}, "compose.yaml has other services"
    build = compose["services"]["leader"]["build"]
    assert (HERE / build["context"] / build["dockerfile"]).is_file(), "compose.yaml builds from a file that is not there"
    server = compose["services"]["nats"]
    assert any("permissions.conf" in volume for volume in server["volumes"]) and "-c" in server["command"]
    for name, service in compose["services"].items():
        for port in service.get("ports", []):
            assert port.startswith(("127.0.0.1:", "${TURNSTONE_LISTEN:-127.0.0.1}:")), f"compose.yaml: {name} is open to all"
        for secret in service.get("secrets", []):
            assert secret in compose["secrets"], f"compose.yaml: {name} has no secret {secret}"
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            assert source.startswith(".") or source in compose["volumes"], f"compose.yaml: {name} has no volume {source}"
    parts = list(yaml.safe_load_all((HERE / "kubernetes.yaml").read_text()))
    services = {part["metadata"]["name"] for part in parts if part["kind"] == "Service"}
    for part in parts:
        assert {"apiVersion", "kind", "metadata", "spec"} <= set(part), f"kubernetes.yaml: {part.get('kind')}"
        if "template" not in part["spec"]:
            continue
        pod = part["spec"]["template"]
        selected = part["spec"].get("selector", {"matchLabels": {}})["matchLabels"]
        assert selected.items() <= pod["metadata"]["labels"].items()
        claims = {claim["metadata"]["name"] for claim in part["spec"].get("volumeClaimTemplates", [])}
        volumes = {volume["name"] for volume in pod["spec"].get("volumes", [])} | claims
        for container in pod["spec"]["containers"]:
            if container.get("command", [])[:1] == ["/bin/sh"]:
                lines = [line.strip() for line in container["args"][0].splitlines()]
                assert not any(line.startswith("turnstone") for line in lines), "kubernetes.yaml: without exec, no signal arrives"
            mounted = {mount["name"] for mount in container.get("volumeMounts", [])}
            assert mounted <= volumes, f"kubernetes.yaml: {mounted - volumes} is no volume"
            for word in " ".join(container.get("args", [])).split():
                if word.startswith("nats://"):
                    host = word.removeprefix("nats://").split(":")[0]
                    assert host in services, f"kubernetes.yaml: {host} is no service"


def permissions():
    if not shutil.which("nats-server"):
        print("skipped: nats-server is not installed, so permissions.conf is not read")
        return
    with tempfile.TemporaryDirectory() as folder:
        # Whoever changes the users there also changes who may do what in compose.yaml.
        text = (HERE / "permissions.conf").read_text()
        assert "user: leader" in text and "user: w1" in text, "compose.yaml has users that permissions.conf lacks"
        config = pathlib.Path(folder) / "server.conf"
        config.write_text((HERE / "permissions.conf").read_text())
        subprocess.run(["nats-server", "-t", "-c", config], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def main():
    containerfile()
    manifests()
    permissions()
    print("the files of the cluster in containers are sound")


if __name__ == "__main__":
    sys.exit(main())
