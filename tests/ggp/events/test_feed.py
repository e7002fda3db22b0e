"""A feed tells new readers all, and others what changes."""

from __future__ import annotations

from ggp.events.feed import KEPT, Feed

RULES = "(role you)"


def test_a_story_is_told_whole_and_put_right() -> None:
    feed = Feed("me")
    story = feed.begin("m", RULES, role="you")
    story.step(1, ["a"])
    story.step(2, ["b"])
    story.step(2, ["b"])
    story.step(9, ["x"])  # one that cannot be
    story.step(2, ["c"])  # put right
    story.think(move="d", value=50.0, done=True)
    told = feed.told()["matches"][0]
    assert [step["moves"] for step in told["steps"]] == [["a"], ["c"]]
    assert told["think"] == {"step": 2, "done": True, "move": "d", "value": 50.0}
    story.end("stop", ["100"])
    story.end("abort")
    assert feed.told()["matches"][0]["over"] == "stop"


def test_ended_matches_are_forgotten_and_running_ones_are_not() -> None:
    feed = Feed("me")
    feed.begin("runs", RULES)
    for number in range(3 * KEPT):
        feed.begin(f"m{number}", RULES).end("stop")
    names = [told["match"] for told in feed.told()["matches"]]
    assert names[0] == "runs"
    assert names[1:] == [f"m{number}" for number in range(3 * KEPT - KEPT - 1, 3 * KEPT)]
