"""The pictures of README.md and the site: each is shown, and the command makes each of them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.places import ROOT, script

PLACE = ROOT / "docs" / "make_pictures.py"
if not PLACE.is_file():
    pytest.skip("only a checkout has it", allow_module_level=True)
pytest.importorskip("selenium")
pytest.importorskip("PIL")

from PIL import Image  # noqa: E402

MAKER = script(PLACE)
PICTURES = ROOT / "docs" / "pictures"
DRAWN = {"play-to-answer.svg", "rules-to-move.svg", "sokoban_lookup.svg", "sokoban_solved.svg"}
"""By hand, and by benchmarks."""


def test_every_picture_is_made_by_a_command_and_shown_on_a_page() -> None:
    assert {path.name for path in PICTURES.iterdir()} == set(MAKER.MADE) | DRAWN
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    shown = {name for page in pages for name in re.findall(r"pictures/([\w.-]+)\)", page.read_text())}
    assert shown == {path.name for path in PICTURES.iterdir()}


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("chromedriver") is None, reason="no browser is installed")
@pytest.mark.parametrize("name", MAKER.MADE)
def test_a_picture_is_made_again_by_its_command(name: str, tmp_path: Path) -> None:
    MAKER.MADE[name](tmp_path / name)
    if name.endswith(".svg"):
        assert "<animateTransform" in (tmp_path / name).read_text(encoding="utf-8")
        return
    with Image.open(tmp_path / name) as new, Image.open(PICTURES / name) as kept:
        assert new.size == kept.size
        frames = getattr(new, "n_frames", 1)
        assert (frames > 1) == (getattr(kept, "n_frames", 1) > 1)
        for frame in range(0, frames, max(1, frames - 1)):
            new.seek(frame)
            colours = new.convert("RGB").getcolors(new.width * new.height)
            assert colours is not None and len(colours) > 5
