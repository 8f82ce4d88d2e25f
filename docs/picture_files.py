"""Where the pictures of the documentation are, and how they are written."""

from pathlib import Path

from matplotlib.figure import Figure
from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
COLORED = 96  # colors of a picture


def save(figure: Figure, path: Path, dpi: int) -> None:
    """Write a picture; with a palette of its own colors, which takes a third of the room."""
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=dpi, metadata={"Software": None})
    shrink(path)


def shrink(path: Path) -> None:
    """Write a PNG again with a palette."""
    with Image.open(path) as picture:
        small = picture.convert("RGB").quantize(COLORED, dither=Image.Dither.NONE)
    small.save(path, optimize=True)
