"""The compiled loops of UCT that go up the tree: results are booked, and what they prove.

Proven values: Winands, Bjornsson and Saito 2008; bounds: Cazenave and Saffidine 2010. Where two roles
choose: :mod:`players.uct.tree.regret_matching`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from players.uct.tree.arrays import BEST, OPEN, PAIR, Arrays, Paths
from players.uct.tree.move_contexts import context_of, note_contexts
from players.uct.tree.regret_matching import book_pair, give_cells, is_time_to_prove, prove_pair, wants_cells
from players.uct.tree.selection_rules import (
    FACTOR,
    GRAVE,
    NONE,
    NST,
    TUNED,
    UCB,
    Rule,
    mean_prior,
    note_move,
    pair_row,
    set_priors,
)
from propnet.jit.decorators import inner, kernel
from propnet.jit.prefetch import prefetch

_RENEW = 4
"""Priors are looked up anew when a node has so many visits, and when they have doubled."""


@inner
def _prove(nodes: Any, edges: Any, node: Any) -> Any:
    """Whether the node's value now follows from its edges; sets ``proven`` if so, and ``bound``."""
    first = np.int64(nodes[node].first_move)
    to_move = nodes[node].to_move
    complete = True
    best = -1
    for edge in range(first, first + nodes[node].choices):
        value = edges[edge].proven
        if value < 0:
            complete = False
            continue
        if to_move:
            value = 100 - value
        best = max(best, value)
    nodes[node].bound = best
    if best == 100 or complete:
        nodes[node].proven = 100 - best if to_move else best
        return True
    return False


@kernel(nogil=True)
def average(
    goals: NDArray[np.int16],
    each: Any,
    unknown: Any,
    rows: NDArray[np.int64],
    results: NDArray[np.float64],
    bests: NDArray[np.float64],
) -> None:
    """Write the means, 0..1, of every ``each`` rows of ``goals`` (n * each, roles; -1 for a role
    without a goal counts as ``unknown``) to ``results[rows[i]]``, and role 0's best to ``bests``."""
    for i in range(len(rows)):
        for role in range(goals.shape[1]):
            total = 0
            best = 0
            for k in range(i * each, (i + 1) * each):
                goal = goals[k, role]
                if goal < 0:
                    goal = unknown
                total += goal
                best = max(best, goal)
            results[rows[i], role] = total / (100.0 * each)
            if role == 0:
                bests[rows[i]] = best / 100.0


@inner
def _book_edge(edges: Any, edge: Any, result: Any, best: Any, greed: Any, kind: Any) -> None:
    before = edges[edge].total
    edges[edge].visits += 1
    edges[edge].pending -= 1
    edges[edge].total += result
    visits = edges[edge].visits
    trust = edges[edge].trust
    mean = (edges[edge].total + trust * edges[edge].prior) / (visits + trust)
    if kind == TUNED:  # by Welford's rule
        change = result - before / max(1, visits - 1)
        product = change * (result - edges[edge].total / visits)
        old = edges[edge].spread if visits > 1 else 0.0
        edges[edge].spread = np.float32(old + (product - old) / visits)
    if greed > 0.0:
        edges[edge].best = max(edges[edge].best, np.uint16(best * BEST + 0.5))
        mean += greed * (edges[edge].best / BEST - mean)
    edges[edge].worth = np.float32(mean)


@inner
def _table(nodes: Any, tables: Any, averages: Any, path: Any, depth: Any) -> Any:
    """The table of the last node of a path down to this depth that has one, or that of all moves."""
    while depth >= 0:
        table = nodes[path[depth]].table
        if table >= 0:
            return tables[table]
        depth -= 1
    return averages


@kernel(nogil=True)
def backup(
    tree: Arrays,
    paths: Paths,
    lanes: Any,
    results: NDArray[np.float64],
    bests: NDArray[np.float64],
    greed: Any,
    rule: Rule,
) -> None:
    """Book ``results`` (lanes, roles; 0..1) along the paths, and what is proven with them. ``bests``
    (lanes,) are the best of the results that each of role 0's is the mean of; ``greed`` is how much
    of a move's worth comes from the best of these.

    Above a node whose to_move is proven to reach more than the result, that bound is booked
    (score bounded search: Cazenave and Saffidine 2010). ``results`` is overwritten."""
    roles = results.shape[1]
    nodes, edges, cells, counts, columns = tree.nodes, tree.edges, tree.cells, tree.counts, tree.columns
    averages, pairs, tables = tree.averages, tree.pairs, tree.tables
    contexts, parts, masks, records = tree.contexts, tree.parts, tree.masks, tree.records
    by_parts = rule.prior == FACTOR
    rows_of_pairs = pairs.reshape(-1)
    for lane in range(-2, lanes):
        # What comes next is asked for now: nodes two paths ahead, their edges one path ahead.
        if lane + 2 < lanes:
            for depth in range(paths.length[lane + 2]):
                prefetch(nodes, paths.nodes[lane + 2, depth])
        if 0 <= lane + 1 < lanes:
            for depth in range(paths.length[lane + 1]):
                to_move = np.int64(nodes[paths.nodes[lane + 1, depth]].to_move)
                prefetch(edges, paths.edges[lane + 1, depth, max(to_move, np.int64(0))])
                if rule.prior == NST and depth:
                    column, context = paths.columns[lane + 1, depth], paths.columns[lane + 1, depth - 1] + 1
                    prefetch(rows_of_pairs, 2 * pair_row(pairs, np.uint64(context), column))
        if lane < 0:
            continue
        node = np.int64(paths.leaf[lane])
        chooser = np.int64(nodes[node].to_move)
        if nodes[node].status == OPEN and nodes[node].visits == 0 and chooser >= 0:
            first, count = np.int64(nodes[node].first_move), np.int64(nodes[node].choices)
            length = paths.length[lane]
            before = np.int64(paths.columns[lane, length - 1] if length else -1)
            note_contexts(contexts, masks, records, node, before, by_parts)
            offset, base = columns[chooser], results[lane, chooser]
            set_priors(edges, averages, pairs, contexts, parts, first, count, offset, base, rule)
        for depth in range(paths.length[lane] - 1, -1, -1):
            node = paths.nodes[lane, depth]
            nodes[node].visits += 1
            nodes[node].pending -= 1
            to_move = np.int64(nodes[node].to_move)
            if to_move >= 0:
                edge = paths.edges[lane, depth, to_move]
                _book_edge(edges, edge, results[lane, to_move], bests[lane], greed, rule.kind)
                if rule.prior != NONE:
                    offset = columns[to_move]
                    column = np.int64(paths.columns[lane, depth])
                    before = np.int64(paths.columns[lane, depth - 1] if depth else -1)
                    if rule.prior != GRAVE:
                        context = context_of(masks, records, node, parts[column], before, by_parts)
                        note_move(averages, pairs, context, column, results[lane, to_move], rule)
                    visits = nodes[node].visits
                    if visits >= _RENEW and visits & (visits - 1) == 0:
                        table = _table(nodes, tables, averages, paths.nodes[lane], depth)
                        first, count = np.int64(nodes[node].first_move), np.int64(nodes[node].choices)
                        base = mean_prior(edges, first, count)
                        note_contexts(contexts, masks, records, node, before, by_parts)
                        set_priors(edges, table, pairs, contexts, parts, first, count, offset, base, rule)
            elif to_move == PAIR:
                if wants_cells(nodes, counts, node, len(cells)):
                    give_cells(tree, node)
                book_pair(nodes, edges, cells, counts, node, paths.edges[lane, depth], results[lane])
            else:
                for role in range(roles):
                    edge = paths.edges[lane, depth, role]
                    _book_edge(edges, edge, results[lane, role], bests[lane], greed, UCB)
            bound = nodes[node].bound / 100.0
            if bound > 0.0 and results[lane, to_move] < bound:
                results[lane, to_move] = bound
                if roles == 2:
                    results[lane, 1 - to_move] = 1.0 - bound
        node = paths.leaf[lane]
        for depth in range(paths.length[lane] - 1, -1, -1):
            if nodes[node].proven < 0:
                break
            parent = paths.nodes[lane, depth]
            to_move = np.int64(nodes[parent].to_move)
            unknown = nodes[parent].proven < 0
            if to_move == PAIR and unknown:
                joint = tree.links[paths.links[lane, depth]].joint
                if not is_time_to_prove(nodes, cells, counts, parent, joint):
                    break
                if not prove_pair(tree, parent):
                    break
                node = parent
                continue
            if to_move < 0:
                break
            edges[paths.edges[lane, depth, to_move]].proven = nodes[node].proven
            if nodes[parent].proven < 0 and not _prove(nodes, edges, parent):
                break
            node = parent
