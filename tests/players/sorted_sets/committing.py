"""A process that commits layer after layer until it is killed: layer N is N repeated."""

import sys
from pathlib import Path

from players.sorted_sets.store import BlobStore


def content(layer: int, block: int) -> bytes:
    """What a block holds."""
    return layer.to_bytes(4, "little") * (200 + 37 * block + layer % 50)


def main(scratch: Path) -> None:
    store = BlobStore(6_000, scratch, rules="(role you)")
    layer = store.state.get("layer", 0)
    while True:
        layer += 1
        writer = store.writer(f"layer{layer}", cold=layer % 2 == 0)
        for block in range(3):
            writer.append(content(layer, block))
        writer.close()
        if layer % 5 == 0:
            store.spill(0)
        if layer % 3 == 0:
            store.blobs[f"layer{layer - 1}"].drop()
        store.commit({"layer": layer, "names": sorted(store.blobs)}, store.blobs.values())
        print(layer, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
