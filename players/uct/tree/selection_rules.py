"""The compiled rules by which one role chooses among its moves in the tree, and the priors of moves.

UCB1: Auer, Cesa-Bianchi and Fischer 2002. PUCT: Rosin 2011, in the form of Silver et al. 2017. First-play
urgency: Wang and Gelly 2007. Averages of moves and of pairs of moves (NST): Tak, Winands and Bjornsson 2012,
here of the moves in the tree. A prior counts as some visits with that result (Gelly and Silver 2007).

Paths under way count as visits, and about half of them as lost ones (virtual loss: Chaslot, Winands and van
den Herik 2008). Otherwise all paths of a batch would go down the same line.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from players.uct.tree.arrays import Arrays, RandomState, Table
from propnet.jit.decorators import ARENA, inlined, kernel
from propnet.jit.random_numbers import next_random

UCB, PUCT = 0, 1
"""Values of :attr:`SelectionRule.kind`."""
NONE, NST, VALUED = 0, 1, 2
"""Values of :attr:`SelectionRule.prior`."""
_DOUBT = np.float32(8.0)
"""After this many results, a move's average and that of all moves of its role count equally."""
_TEMPERATURE = 0.1
"""If priors differ by this, the shares of PUCT differ by a factor e."""
_NEVER = np.float32(-1e9)


class SelectionRule(NamedTuple):
    """The parameters of the choice among moves.

    Attributes:
        kind: UCB, which tries every move once before it repeats one, or PUCT, in which an untried move has
            the value of its prior.
        exploration: the exploration constant, for results 0..1.
        prior_visits: number of visits that the prior counts as.
        prior: source of priors: NONE (the node's first value), NST, or VALUED (already set).
        minimax: weight of the learnt value in a move's worth (:mod:`players.uct.tree.values`); the mean of
            results has the rest.
        chance: the role whose moves are drawn uniformly; -1 for none.
        loss: share of the paths under way that counts as lost, so that paths spread over the moves.
    """

    kind: int = UCB
    exploration: float = 0.3
    prior_visits: float = 0.0
    prior: int = NONE
    minimax: float = 0.0
    chance: int = -1
    loss: float = 1.0


@inlined
def below(random: RandomState, count: int) -> np.int64:
    """A random number below ``count``."""
    return np.int64(((next_random(random) >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32))


@inlined
def uniform(random: RandomState) -> float:
    """A random number in [0, 1)."""
    return float((next_random(random) >> np.uint64(11)) * 2.0**-53)


@inlined
def following(edge: np.int64, first: np.int64, count: np.int64) -> np.int64:
    """The edge after this one among ``count`` that begin with ``first``; the first one follows the last."""
    return edge + 1 if edge + 1 < first + count else first


@inlined
def about_log(x: int) -> np.float32:
    """Approximate logarithm of a number from 1 on; the error is at most 0.005."""
    bits = np.float32(x).view(np.int32)
    exponent = np.float32((bits >> np.int32(23)) - np.int32(127))
    mantissa = np.int32((bits & np.int32(0x7FFFFF)) | np.int32(0x3F800000)).view(np.float32)
    two = np.float32(-1.674903) + mantissa * (np.float32(2.024681) + mantissa * np.float32(-0.3448404))
    return np.float32(math.log(2.0)) * (exponent + two)


@inlined
def _any_untried(edges: Table, random: RandomState, first: np.int64, count: np.int64) -> np.int64:
    """One of the edges that were never taken: the next one after a random place."""
    edge = np.int64(first + below(random, count))
    while edges[edge].visits + edges[edge].pending:
        edge = following(edge, first, count)
    return edge


@inlined
def best_edge(
    edges: Table,
    random: RandomState,
    first: np.int64,
    count: np.int64,
    visits: int,
    secured: int,
    eager: bool,
    rule: SelectionRule,
) -> np.int64:
    """The edge that the rule prefers; with ``eager``, edges never taken come first, in random order. Those
    that cannot lead to more than ``secured``, which the role is proven to reach, are left out."""
    if count == 1:
        return np.int64(first)
    weight = np.float32(rule.exploration)
    weight *= np.float32(math.sqrt(np.float32(visits + 1) if rule.kind == PUCT else about_log(visits + 1)))
    best = np.int64(first)
    best_score = _NEVER
    untried = 0
    # This loop has few branches, because the processor could not predict them.
    for edge in range(first, first + count):
        pending = edges[edge].pending
        tried = edges[edge].visits + pending
        untried += tried == 0
        n = np.float32(max(tried, 1))
        if rule.kind == UCB:
            term = weight / np.float32(math.sqrt(n))
        else:
            term = weight * edges[edge].share / np.float32(1 + tried)
        score = edges[edge].worth * (n / (n + np.float32(rule.loss) * np.float32(pending))) + term
        # A visit would add nothing; the final choice considers results that are known.
        score = score if edges[edge].limit > secured else _NEVER
        better = score > best_score
        best = np.int64(edge) if better else best
        best_score = score if better else best_score
    if untried and eager:
        return np.int64(_any_untried(edges, random, first, count))
    return best


@inlined
def pair_row(pairs: Table, before: int, column: int) -> np.int64:
    """The row of a move, by its column and that of the move before it (-1 for none)."""
    h = (np.uint64(np.int64(before) + 1) * np.uint64(0x9FB21C651E98DF25)) ^ np.uint64(column)
    h *= np.uint64(0xC2B2AE3D27D4EB4F)
    return np.int64(h >> np.uint64(40)) & np.int64(len(pairs) - 1)


@inlined
def note_move(tree: Arrays, before: int, column: int, result: float) -> None:
    """Count a result (0..1) of the move with this column, made after the move ``before``."""
    goal = np.float32(100.0 * result)
    tree.averages[column].number += np.float32(1.0)
    tree.averages[column].total += goal
    pair = pair_row(tree.pairs, before, column)
    tree.pairs[pair].number += np.float32(1.0)
    tree.pairs[pair].total += goal


@inlined
def set_priors(tree: Arrays, node: int, before: int, base: float, rule: SelectionRule) -> None:
    """Set the priors of a node's role to move: ``base`` (0..1) on average, more or less by the moves' results
    elsewhere, above all after the move ``before``."""
    nodes, edges, averages, pairs = tree.nodes, tree.edges, tree.averages, tree.pairs
    first, count = np.int64(nodes[node].first_move), np.int64(nodes[node].choices)
    offset = tree.columns[nodes[node].to_move]
    mean = np.float32(0.0)
    if rule.prior == NST:
        usual = np.float32(100.0 * base)
        for edge in range(first, first + count):
            column = offset + edges[edge].move
            # With few results a move stays near the average.
            expected = (averages[column].total + _DOUBT * usual) / (averages[column].number + _DOUBT)
            pair = pair_row(pairs, before, column)
            expected = (pairs[pair].total + _DOUBT * expected) / (pairs[pair].number + _DOUBT)
            edges[edge].prior = np.float32(0.01) * expected
            mean += edges[edge].prior
        mean /= np.float32(count)
    nodes[node].prior_visits = np.float32(rule.prior_visits)
    urgency = np.float32(1.0) if rule.kind == UCB else np.float32(0.0)
    total = np.float32(0.0)
    for edge in range(first, first + count):
        prior = np.float32(base)
        if rule.prior == NST:
            prior = min(np.float32(1.0), max(np.float32(0.0), edges[edge].prior - mean + prior))
        edges[edge].prior = prior
        if edges[edge].visits == 0:
            edges[edge].worth = prior + urgency
        if rule.kind == PUCT:
            edges[edge].share = np.float32(math.exp((prior - base) / _TEMPERATURE))
            total += edges[edge].share
    if rule.kind == PUCT:
        for edge in range(first, first + count):
            edges[edge].share = edges[edge].share / total


@inlined
def mean_prior(tree: Arrays, node: int) -> np.float64:
    """The mean of the priors of a node's role to move."""
    first, count = tree.nodes[node].first_move, tree.nodes[node].choices
    total = 0.0
    for edge in range(first, first + count):
        total += tree.edges[edge].prior
    return np.float64(total / count)


@kernel(**ARENA)
def forget(averages: Table, pairs: Table, share: float) -> None:
    """Multiply the weight of the averages by ``share`` (0..1)."""
    for counts in (averages, pairs):
        for row in range(len(counts)):
            counts[row].number *= np.float32(share)
            counts[row].total *= np.float32(share)
