"""The files for clusters in containers: a token is demanded, nobody else gets in, the commands exist."""

from __future__ import annotations

import re
import sys
from subprocess import run
from typing import Any

import pytest

from tests.places import ROOT

yaml = pytest.importorskip("yaml")
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docs/cluster/compose.yaml").read_text())
CLUSTER, POLICY = yaml.safe_load_all((ROOT / "docs/cluster/kuberay.yaml").read_text())


def test_all_services_have_the_token_that_the_user_gives_and_none_by_default() -> None:
    for service in COMPOSE["services"].values():
        assert service["environment"]["RAY_AUTH_MODE"] == "token"
        assert service["environment"]["RAY_AUTH_TOKEN"].startswith("${RAY_AUTH_TOKEN:?")


def test_the_network_of_the_nodes_is_theirs_alone_and_the_player_is_on_loopback() -> None:
    assert COMPOSE["networks"]["ray"]["internal"] is True
    for name, service in COMPOSE["services"].items():
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))
        assert ("outside" in service["networks"]) == (name == "player")


def test_the_player_of_the_compose_file_is_a_command_that_there_is() -> None:
    words = [str(word) for word in COMPOSE["services"]["player"]["command"]]
    assert "--cluster" in words
    told = run([sys.executable, "-m", "ggp", words[0], "--help"], capture_output=True, text=True, check=True)
    text = re.sub(r"\x1b\[[0-9;]*m", "", told.stdout)
    assert all(word in text for word in words if word.startswith("--"))


def test_pods_have_a_token_no_privileges_and_whole_cores_and_are_reached_by_their_like() -> None:
    spec = CLUSTER["spec"]
    assert spec["authOptions"]["mode"] == "token"
    groups = [spec["headGroupSpec"], *spec["workerGroupSpecs"]]
    for group in groups:
        for container in group["template"]["spec"]["containers"]:
            assert container["securityContext"]["runAsNonRoot"] is True
            assert container["securityContext"]["allowPrivilegeEscalation"] is False
            limits = container["resources"]["limits"]
            assert limits == container["resources"]["requests"] and int(limits["cpu"]) >= 1
    selected = POLICY["spec"]["podSelector"]["matchLabels"]["ray.io/cluster"]
    assert selected == CLUSTER["metadata"]["name"] and POLICY["spec"]["policyTypes"] == ["Ingress"]


def test_the_image_with_ray_is_what_the_dockerfile_makes() -> None:
    text = (ROOT / "Dockerfile").read_text()
    assert COMPOSE["services"]["node"]["build"]["args"] == {"CLUSTER": "1"}
    assert "ARG CLUSTER" in text and "requirements-cluster.lock" in text
