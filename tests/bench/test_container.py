"""Every instruction of the Dockerfile is read, and one that would not be run is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.container import assignments, stages

DOCKERFILE = Path(__file__).resolve().parents[2] / "Dockerfile"


def test_stages_commands_and_users_of_ours_are_found() -> None:
    first, last = stages(DOCKERFILE)
    assert (first.name, last.name) == ("wheel", "")
    assert last.command("ENTRYPOINT") == ["ggp"]
    assert last.command("CMD")[0] == "serve"
    assert last.command("HEALTHCHECK")[0] == "python"
    assert int(last.last("USER")) > 0
    installs = [text for name, text in last.steps if name == "RUN"]
    assert all("\n" not in text for text in installs)
    assert any("--require-hashes" in text and "--no-deps" in text for text in installs), "lines are joined"
    assert [name for name, text in last.steps if "--from=wheel" in text] == ["COPY"]


def test_variables_with_quotes_are_read() -> None:
    assert assignments('A=1 B="two words"') == {"A": "1", "B": "two words"}


def test_an_instruction_that_is_not_run_is_refused(tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text("FROM base\nADD http://example.org /x\n")
    with pytest.raises(ValueError, match="ADD is not known"):
        stages(tmp_path / "Dockerfile")
