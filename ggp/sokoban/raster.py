"""A level as PNG and its solution as GIF, by Pillow: drawn four times as large, and made smaller."""

from __future__ import annotations

import io
from collections.abc import Iterator

from gdl.errors import GdlError
from ggp.boards.svg.sprites import DOWN
from ggp.boards.svg.tiles import (
    CRATE,
    CRATE_ON_GOAL,
    Oval,
    Polygon,
    Shape,
    Slab,
    ground,
    keeper,
    moved,
)
from ggp.sokoban.stage import LevelStage
from players.puzzles.sokoban.geometry import Position

try:
    from PIL import Image, ImageColor, ImageDraw
except ModuleNotFoundError as error:
    raise GdlError(
        "PNG and GIF need Pillow, which is not installed",
        remedy="pip install pillow, or write an .svg",
    ) from error

_LARGER = 4
_MOST_DRAWN_PIXELS = 4096
"""Largest side before the reduction, in pixels. Larger pictures are drawn less finely, to save memory."""
_MOST_SQUARE_PIXELS = 48
_MOST_SIDE_PIXELS = 960
_LEAST_SQUARE_PIXELS = 6
MOST_FRAMES = 2000
"""Largest number of frames. A longer solution is shown push by push, or by several pushes at once."""


def _square_pixels(stage: LevelStage, most_side: int = _MOST_SIDE_PIXELS) -> int:
    """The width of a square in pixels, smaller on large maps."""
    fitting = most_side // max(stage.width, stage.height)
    return max(_LEAST_SQUARE_PIXELS, min(_MOST_SQUARE_PIXELS, fitting))


def png(stage: LevelStage, position: Position) -> bytes:
    """A position as a PNG file."""
    file = io.BytesIO()
    tiles = _Tiles(stage, _square_pixels(stage))
    tiles.picture(position, DOWN).save(file, "PNG", optimize=True)
    return file.getvalue()


def gif(stage: LevelStage, steps: str, fps: float) -> bytes:
    """A solution as an animated GIF file that repeats, ``fps`` frames a second, with a pause at both ends. If
    it has more than MOST_FRAMES steps, some are left out (:func:`frame_numbers`)."""
    tiles = _Tiles(stage, _square_pixels(stage, 640))
    numbers = frame_numbers(steps)
    chosen = set(numbers)
    # The format counts in hundredths of a second. Viewers show delays below two hundredths as ten.
    duration = max(20, round(100 / fps) * 10)
    durations = [1000, *[duration] * (len(numbers) - 2), 2000] if len(numbers) > 1 else [1000]
    pictures = (
        tiles.picture(position, direction)
        for number, (position, direction) in enumerate(stage.replay(steps))
        if number in chosen
    )
    frames = _with_one_palette(pictures, tiles)
    file = io.BytesIO()
    next(frames).save(
        file, "GIF", save_all=True, append_images=frames, duration=durations, loop=0, optimize=False
    )
    return file.getvalue()


def frame_numbers(steps: str) -> list[int]:
    """The numbers of the steps after which there is a frame; 0 is the start. Every step has a frame if they
    are at most MOST_FRAMES, otherwise every push, or every second, third... push. The last step always has
    one."""
    numbers = list(range(1, len(steps) + 1))
    if len(numbers) > MOST_FRAMES:
        numbers = [number for number in numbers if steps[number - 1].isupper()]
    every = -(-len(numbers) // MOST_FRAMES)
    numbers = numbers[:: max(1, every)]
    if steps and (not numbers or numbers[-1] != len(steps)):
        numbers.append(len(steps))
    return [0, *numbers]


def _with_one_palette(pictures: Iterator[Image.Image], tiles: _Tiles) -> Iterator[Image.Image]:
    """The pictures in the 256 colours of the tiles, so that still parts look the same in all."""
    palette = tiles.sampler().quantize(255, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    for picture in pictures:
        yield picture.quantize(palette=palette, dither=Image.Dither.NONE)


class _Tiles:
    """The ground of a stage and its moving tiles, drawn once; ``pixels`` is the width of a square."""

    def __init__(self, stage: LevelStage, pixels: int) -> None:
        self._stage, self._pixels = stage, pixels
        self._ground = _drawn(ground(stage.ground), stage.width, stage.height, pixels).convert("RGB")
        self._crates = [_tile(shapes, pixels) for shapes in (CRATE, CRATE_ON_GOAL)]
        self._keepers = [_tile(keeper(direction), pixels) for direction in range(4)]
        self._goals = set(stage.geometry.goals.tolist())

    def picture(self, position: Position, direction: int) -> Image.Image:
        """A position, with the keeper looking in a direction (-1: down)."""
        picture = self._ground.copy()
        for box in position.boxes:
            self._put(picture, self._crates[box in self._goals], box)
        self._put(picture, self._keepers[direction if direction >= 0 else DOWN], position.keeper)
        return picture

    def sampler(self) -> Image.Image:
        """A picture with all the colours: the start, and every tile below it."""
        tiles = [*self._crates, *self._keepers]
        start = self.picture(self._stage.start, DOWN)
        width = max(start.width, len(tiles) * self._pixels)
        picture = Image.new("RGB", (width, start.height + self._pixels), _FLOOR_COLOUR)
        picture.paste(start, (0, 0))
        for number, tile in enumerate(tiles):
            picture.paste(tile, (number * self._pixels, start.height), tile)
        return picture

    def _put(self, picture: Image.Image, tile: Image.Image, square: int) -> None:
        y, x = self._stage.place(square)
        picture.paste(tile, (x * self._pixels, y * self._pixels), tile)


_FLOOR_COLOUR = "#cfc7b8"


def _tile(shapes: tuple[Shape, ...], pixels: int) -> Image.Image:
    return _drawn(moved(shapes, 0, 0), 1, 1, pixels)


def _drawn(shapes: Iterator[Shape], width: int, height: int, pixels: int) -> Image.Image:
    """Shapes on a transparent picture of ``width`` by ``height`` squares."""
    unit = pixels * max(1, min(_LARGER, _MOST_DRAWN_PIXELS // (pixels * max(width, height))))
    picture = Image.new("RGBA", (width * unit, height * unit))
    draw = ImageDraw.Draw(picture)
    for shape in shapes:
        red, green, blue, *rest = ImageColor.getrgb(shape.fill)
        fill = (red, green, blue, *rest) if rest else (red, green, blue, 255)
        match shape:
            case Slab(x, y, wide, high, _, radius):
                left, top = x * unit, y * unit
                # A line thinner than a pixel is drawn one pixel wide.
                right, bottom = max(left, left + wide * unit - 1), max(top, top + high * unit - 1)
                draw.rounded_rectangle((left, top, right, bottom), radius * unit, fill)
            case Oval(x, y, wide, high, _):
                draw.ellipse(
                    ((x - wide) * unit, (y - high) * unit, (x + wide) * unit, (y + high) * unit), fill
                )
            case Polygon(points, _):
                draw.polygon([(x * unit, y * unit) for x, y in points], fill)
    return picture.resize((width * pixels, height * pixels), Image.Resampling.BOX)
