"""Cut points of positive recursion: few atoms that every cycle passes (a greedy feedback vertex set)."""

from __future__ import annotations

from collections import defaultdict
from heapq import heapify, heappop, heappush


def cut_points(edges: dict[int, list[int]]) -> list[int]:
    """Atoms without which the dependency graph (atom -> what its rules read) has no cycles, ascending.

    Vertices without predecessors or successors are peeled; when none is left, the vertex
    with the largest product of degrees is cut.
    """
    forward: dict[int, set[int]] = {v: set(reads) for v, reads in edges.items()}
    backward: dict[int, set[int]] = defaultdict(set)
    for vertex, reads in edges.items():
        for read in reads:
            backward[read].add(vertex)
            forward.setdefault(read, set())
    cuts = []

    def remove(vertex: int) -> set[int]:
        below, above = forward.pop(vertex) - {vertex}, backward.pop(vertex, set()) - {vertex}
        for read in below:
            backward[read].discard(vertex)
        for reader in above:
            forward[reader].discard(vertex)
        return below | above

    def peel(stack: list[int]) -> None:
        while stack:
            vertex = stack.pop()
            if vertex in forward and not (forward[vertex] and backward.get(vertex)):
                stack.extend(remove(vertex))

    peel(list(forward))
    heap = [(-len(reads) * len(backward[vertex]), vertex) for vertex, reads in forward.items()]
    heap = [(-(1 << 60), v) if v in forward[v] else (weight, v) for weight, v in heap]
    heapify(heap)
    while heap:
        weight, vertex = heappop(heap)
        if vertex not in forward:
            continue
        if vertex not in forward[vertex]:
            current = -len(forward[vertex]) * len(backward[vertex])
            if current != weight:
                heappush(heap, (current, vertex))
                continue
        cuts.append(vertex)
        peel(list(remove(vertex)))
    return sorted(cuts)
