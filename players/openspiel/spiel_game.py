"""A game of OpenSpiel for each of our games: `SpielGame`.

A game is sequential if random play never shows two players with a choice in one state, otherwise
simultaneous. Returns are 0 before the end. At the end they are goal / 50 - 1 if two players' goals always add
up to 100 (a zero-sum game), otherwise goal / 100. A state that contradicts the results of random play is a
GdlError.

The role ``random`` is not a player: its moves are chance nodes. If information is hidden, the information
state consists of a player's observations: its own moves and percepts.

States of matches for OpenSpiel: `SpielState`, and `_ChanceState` for games of chance and of hidden
information.

In a sequential game a role without a choice is passed over, and its single move is played for it. Chance
draws last in each step, so that no player knows its move before. If information is hidden, several roles that
have a choice in one state may choose one after the other: none of them learns about it before the joint move
is complete.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gdl.errors import GdlError
from gdl.information import chance_role, hides, playing
from gdl.machine import State
from gdl.rules import Rules
from propnet.analysis.random_play import final_goals, is_constant_sum
from propnet.environments.senses import Senses
from propnet.environments.vector_match import TurnTaking
from propnet.machine import PropnetMachine
from propnet.network import Network


class MissingOpenSpielError(GdlError, ImportError):
    """OpenSpiel is not installed."""


try:
    import pyspiel
except ImportError:
    raise MissingOpenSpielError(
        "games and bots of OpenSpiel need the package open_spiel", remedy="pip install 'kaskade-ggp[rl]'"
    ) from None
_State: Any = pyspiel.State

MOST_NUMBERS = 1 << 16
"""Maximum size of an information state's tensor; longer histories have none."""


@dataclass(frozen=True)
class _SpielRules:
    """The data that all states of a game share.

    Attributes:
        name: the short name under which the game is registered.
        machine: the machine.
        turns: decides which roles act.
        players: the roles that are players, in OpenSpiel's order: all but chance.
        chance: the role of chance; None if there is none.
        senses: per player its possible observations, if information is hidden; otherwise empty.
        sequential, zero_sum: the kind of game.
        max_steps: joint moves after which a match is over, with returns of 0.
        draw: a function that draws states as text; None for GDL.
        settings: the settings of :func:`players.openspiel.spiel_game.spiel_game`, to recreate the game.
    """

    name: str
    machine: PropnetMachine
    turns: TurnTaking
    players: tuple[int, ...]
    chance: int | None
    senses: tuple[Senses, ...]
    sequential: bool
    zero_sum: bool
    max_steps: int
    draw: Callable[[State], str] | None
    settings: dict[str, Any]

    def __deepcopy__(self, memo: object) -> _SpielRules:
        return self  # OpenSpiel copies the attributes of a state

    @property
    def recalled(self) -> int:
        """Number of turns in an information state's tensor: those of a whole match, or 0 if it would be too
        large."""
        width = max((one.width for one in self.senses), default=1)
        return self.max_steps if self.max_steps * width <= MOST_NUMBERS else 0


_TERMINAL, _SIMULTANEOUS = int(pyspiel.PlayerId.TERMINAL), int(pyspiel.PlayerId.SIMULTANEOUS)
_CHANCE = int(pyspiel.PlayerId.CHANCE)


class SpielState(_State):  # type: ignore[misc]
    """A state of a match. OpenSpiel copies its attributes, so they are small.

    Attributes:
        rules: the data of the game.
        key: the packed state, as in :class:`gdl.machine.State`.
        steps: number of joint moves since the match began.
    """

    def __init__(self, game: SpielGame) -> None:
        super().__init__(game)
        self.rules = game.rules
        self.steps = 0
        self.put(game.rules.machine.initial_state())

    def __reduce__(self) -> tuple[Any, ...]:
        return _again_state, (self.get_game(), self.serialize())

    def put(self, state: State) -> None:
        """Set the state to this one, or to the next one in which a role acts."""
        rules = self.rules
        if rules.sequential:
            left = rules.max_steps - self.steps
            state, options, acting, passed = rules.turns.settle(state, max(0, left))
            self.steps += passed
            if len(acting) > 1 and len([moves for moves in options if len(moves) > 1]) > 1:
                raise GdlError(
                    "two roles have a choice in one state",
                    remedy="load the game with dynamics='simultaneous'",
                )
        else:
            options = rules.machine.options(state)
            acting = [] if rules.machine.is_terminal(state) or not all(options) else [0]
        self.key = state.key
        self.options = options
        self.result: list[float] | None = None
        if acting and self.steps < rules.max_steps:
            self.over = False
            self.actor = acting[0]
            self._player = self.actor if rules.sequential else _SIMULTANEOUS
            return
        self.over, self.actor, self._player = True, -1, _TERMINAL
        if not acting and rules.machine.is_terminal(state):
            self.result = _returns(rules, state)

    def current_player(self) -> int:
        """The player whose turn it is, in OpenSpiel's numbering."""
        return self._player

    def _legal_actions(self, player: int) -> list[int]:
        if self.over or (self.rules.sequential and player != self.actor):
            return []
        return list(self.options[player])

    def legal_actions(self, player: int | None = None) -> list[int]:
        """The moves of a player, by default of the one whose turn it is, ascending. The result is that of
        OpenSpiel's own method, which asks four times whose turn it is."""
        if player is None:
            player = self._player
        if player < 0:  # simultaneous moves, chance, or the end
            flat: list[int] = super().legal_actions()
            return flat
        return self._legal_actions(player)

    def _apply_action(self, action: int) -> None:
        joint = [moves[0] for moves in self.options]
        joint[self.actor] = action
        self._make(joint)

    def _apply_actions(self, actions: list[int]) -> None:
        self._make(list(actions))

    def _make(self, joint: list[int]) -> None:
        machine = self.rules.machine
        self.steps += 1
        self.put(machine.next_state(State(machine, self.key), joint))

    def _action_to_string(self, player: int, action: int) -> str:
        game: SpielGame = self.get_game()
        return game.action_to_string(player, action)

    def is_terminal(self) -> bool:
        """Whether the match is over."""
        return self.over

    def returns(self) -> list[float]:
        """The returns of all roles: 0 before the end."""
        return [0.0] * len(self.rules.players) if self.result is None else self.result

    def __str__(self) -> str:
        state, draw = State(self.rules.machine, self.key), self.rules.draw
        return state.to_kif() if draw is None else draw(state)


class _ChanceState(SpielState):
    """A state of a match with chance nodes, or with hidden information. Steps in which no role has a choice
    are taken at once.

    Attributes:
        chosen: (role, move) of the roles that have chosen in this step.
        histories: per player its history (:class:`propnet.environments.senses.Senses`), if information is
            hidden.
    """

    def __init__(self, game: SpielGame) -> None:
        self.chosen: tuple[tuple[int, int], ...] = ()
        self.histories: tuple[bytes, ...] = (b"",) * len(game.rules.senses)
        super().__init__(game)

    def put(self, state: State) -> None:
        """Set the state to this one, or to the next one in which a role has a choice."""
        rules, machine = self.rules, self.rules.machine
        self.chosen = ()
        while True:
            options = machine.options(state)
            self.key, self.options = state.key, options
            ended = machine.is_terminal(state) or not all(options)
            self.over = ended or self.steps >= rules.max_steps
            if self.over or any(len(moves) > 1 for moves in options):
                break
            state = self._stepped([moves[0] for moves in options])
        self.result = _returns(rules, state) if ended and machine.is_terminal(state) else None
        self._await()

    def _await(self) -> None:
        """Determine whose turn it is in this step."""
        rules = self.rules
        done = {role for role, _ in self.chosen}
        waiting = [role for role in rules.players if len(self.options[role]) > 1 and role not in done]
        self.actor = waiting[0] if waiting else -1 if rules.chance is None else rules.chance
        if self.over:
            self._player = _TERMINAL
        elif not waiting:
            self._player = _CHANCE
        else:
            self._player = rules.players.index(self.actor) if rules.sequential else _SIMULTANEOUS
        if rules.sequential and not rules.senses and len(waiting) > 1:
            raise GdlError(
                "two roles have a choice in one state", remedy="load the game with dynamics='simultaneous'"
            )

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """The moves of chance, with equal probabilities."""
        moves = self.options[self.actor]
        return [(move, 1 / len(moves)) for move in moves]

    def _legal_actions(self, player: int) -> list[int]:
        role = self.rules.players[player]
        if self._player not in (player, _SIMULTANEOUS):
            return []
        return list(self.options[role])

    def _apply_action(self, action: int) -> None:
        self._choose(((self.actor, action),))

    def _apply_actions(self, actions: list[int]) -> None:
        self._choose(tuple(zip(self.rules.players, map(int, actions), strict=True)))

    def _choose(self, choices: tuple[tuple[int, int], ...]) -> None:
        self.chosen += choices
        chosen = dict(self.chosen)
        if all(len(moves) == 1 or role in chosen for role, moves in enumerate(self.options)):
            self.put(self._stepped([chosen.get(role, moves[0]) for role, moves in enumerate(self.options)]))
        else:
            self._await()

    def _stepped(self, joint: list[int]) -> State:
        """The state after a joint move; adds the players' observations to their histories."""
        rules, machine = self.rules, self.rules.machine
        self.steps += 1
        before = State(machine, self.key)
        if not rules.senses:
            return machine.next_state(before, joint)
        seen = machine.percepts(before, joint)
        self.histories = tuple(
            history + one.turn(joint[one.role], seen[one.role])
            for history, one in zip(self.histories, rules.senses, strict=True)
        )
        return machine.next_state(before, joint)

    def __str__(self) -> str:
        spell, move = self.rules.machine.rules.spell, self.rules.machine.move
        roles = self.rules.machine.roles
        chosen = [f"{spell(roles[role])} has chosen {spell(move(role, one))}" for role, one in self.chosen]
        return "\n".join([super().__str__(), *chosen])


class _SpielObserver:
    """Observes everything: the base propositions, float32 0 or 1 by id, and the state as text."""

    def __init__(self, rules: _SpielRules) -> None:
        self.tensor = np.zeros(len(rules.machine.network.bases), np.float32)
        self.dict = {"observation": self.tensor}

    def set_from(self, state: SpielState, player: int) -> None:
        """Write the tensor of a state."""
        octets = np.frombuffer(state.key, np.uint8)  # type: ignore[call-overload]
        self.tensor[:] = np.unpackbits(octets, count=len(self.tensor), bitorder="little")

    def string_from(self, state: SpielState, player: int) -> str:
        """The state as text."""
        return str(state)


class _SensesObserver:
    """Observes what a player has perceived: all its turns, or only the last one.

    Args:
        recall: whether all turns are observed.
        seen: whether anything is observed; a public observer sees only the number of steps.
    """

    def __init__(self, rules: _SpielRules, recall: bool, seen: bool = True) -> None:
        self._rules, self._recall, self._seen = rules, recall, seen
        self._turns = rules.recalled if recall else 1
        width = max(one.width for one in rules.senses)
        self.tensor = np.zeros(self._turns * width if seen else 0, np.float32)
        self.dict = {"observation": self.tensor}

    def set_from(self, state: _ChanceState, player: int) -> None:
        """Write the tensor of a player's observations, the last turn first."""
        self.tensor[:] = 0
        if self._seen:
            vector: NDArray[Any] = self._rules.senses[player].vector(state.histories[player], self._turns)
            self.tensor[: len(vector)] = vector

    def string_from(self, state: _ChanceState, player: int) -> str:
        """A player's observations, one line for each turn."""
        if not self._seen:
            return str(state.steps)
        senses, history = self._rules.senses[player], state.histories[player]
        turns = senses.turns(history)
        own = [f"chosen {move}" for role, move in state.chosen if role == senses.role]
        if self._recall:
            return "\n".join([senses.text(history), *own])
        return "\n".join([senses.text(b"".join(turns[-1:]), len(turns)), *own])


def _again_state(game: SpielGame, history: str) -> Any:
    """The state after pickling."""
    return game.deserialize_state(history)


def _returns(rules: _SpielRules, state: State) -> list[float]:
    """The returns of a terminal state."""
    goals = [rules.machine.result(state, role) or 0 for role in rules.players]
    if not rules.zero_sum:
        return [goal / 100 for goal in goals]
    if sum(goals) != 100:
        raise GdlError(f"goals {goals} in a zero-sum game", remedy="load the game with utility='general-sum'")
    return [goal / 50 - 1 for goal in goals]


_Game: Any = pyspiel.Game

_DYNAMICS: Final = ("auto", "sequential", "simultaneous")
_UTILITIES: Final = ("auto", "zero-sum", "general-sum")
_ENDS, _LONGEST = 512, 2_000


class SpielGame(_Game):  # type: ignore[misc]
    """A game of ours as OpenSpiel's; created by :func:`spiel_game`, or by OpenSpiel under its short name."""

    rules: _SpielRules
    kind: Any

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        rules = self.rules
        moves = rules.machine.network.moves
        info = pyspiel.GameInfo(
            num_distinct_actions=max(len(moves[role]) for role in rules.players),
            max_chance_outcomes=0 if rules.chance is None else len(moves[rules.chance]),
            num_players=len(rules.players),
            min_utility=-1.0 if rules.zero_sum else 0.0,
            max_utility=1.0,
            utility_sum=0.0 if rules.zero_sum else None,
            max_game_length=rules.max_steps,
        )
        super().__init__(self.kind, info, params or {})

    def __reduce__(self) -> tuple[Any, ...]:
        rules = self.rules
        settings = rules.settings
        return _again, (rules.name.removeprefix("gdl_"), rules.machine.rules, rules.machine.network, settings)

    def new_initial_state(self) -> SpielState:
        """The state before the first move."""
        return self._state()

    def _state(self) -> SpielState:
        rules = self.rules
        return _ChanceState(self) if rules.chance is not None or rules.senses else SpielState(self)

    def action_to_string(self, player: int, action: int) -> str:
        """A move of a player, or of chance, as GDL text."""
        rules = self.rules
        role = rules.chance if player < 0 else rules.players[player]
        assert role is not None
        return str(rules.machine.rules.spell(rules.machine.move(role, action)))

    def state_of(self, state: State) -> SpielState:
        """An OpenSpiel state for this state of the machine, without a history."""
        spiel = self._state()
        spiel.put(state)
        return spiel

    def make_py_observer(self, iig_obs_type: Any = None, params: dict[str, Any] | None = None) -> Any:
        """The observer of states: the base propositions as a tensor and the state as text; if information is
        hidden, the player's observations."""
        if self.rules.senses:
            recall = iig_obs_type is not None and iig_obs_type.perfect_recall
            hidden = pyspiel.PrivateInfoType.NONE
            own = iig_obs_type is None or iig_obs_type.private_info != hidden
            return _SensesObserver(self.rules, recall, own)
        if iig_obs_type is None or (iig_obs_type.public_info and not iig_obs_type.perfect_recall):
            return _SpielObserver(self.rules)
        from open_spiel.python.observation import IIGObserverForPublicInfoGame

        return IIGObserverForPublicInfoGame(iig_obs_type, params)


_games: dict[tuple[Any, ...], SpielGame] = {}
_owners: dict[str, tuple[Any, ...]] = {}


def spiel_game(
    name: str,
    machine: PropnetMachine,
    *,
    dynamics: str = "auto",
    utility: str = "auto",
    max_steps: int = 10_000,
    draw: Callable[[State], str] | None = None,
) -> SpielGame:
    """The game of a machine, registered with OpenSpiel as ``gdl_NAME``; a number is added for other rules or
    settings of the same name.

    Args:
        name: the name of the game.
        machine: with a network; the first machine of these rules is cached.
        dynamics, utility: one of :data:`_DYNAMICS` and of :data:`_UTILITIES`.
        max_steps: joint moves after which a match is over, with returns of 0.
        draw: a module-level function that draws states as text, different ones differently; by default GDL.

    Raises:
        GdlError: a setting is not one of these, or a sequential or zero-sum game is asked for although random
            play shows that the game is not.
    """
    if dynamics not in _DYNAMICS or utility not in _UTILITIES:
        raise GdlError(
            f"dynamics={dynamics!r}, utility={utility!r}",
            remedy=f"choose of {', '.join(_DYNAMICS)}; of {', '.join(_UTILITIES)}",
        )
    settings = {"dynamics": dynamics, "utility": utility, "max_steps": max_steps, "draw": draw}
    key = (str(machine.rules), *settings.values())
    if key in _games:
        return _games[key]
    hidden = hides(machine.rules)
    turns = TurnTaking(machine)
    sequential = not turns.several if dynamics == "auto" else dynamics == "sequential"
    if sequential and turns.several and not hidden:
        raise GdlError("two roles have a choice in one state", remedy="choose dynamics='simultaneous'")
    players = tuple(playing(machine.roles))
    zero_sum = _is_zero_sum(machine, players) if utility == "auto" else utility == "zero-sum"
    short = "gdl_" + re.sub(r"\W", "_", name)
    number = 2
    while _owners.get(short, key) != key or short in pyspiel.registered_names():
        short = f"gdl_{re.sub(r'[^0-9A-Za-z_]', '_', name)}_{number}"
        number += 1
    rules = _SpielRules(
        name=short,
        machine=machine,
        turns=turns,
        players=players,
        chance=chance_role(machine.roles),
        senses=tuple(Senses(machine, role) for role in players) if hidden else (),
        sequential=sequential,
        zero_sum=zero_sum,
        max_steps=max_steps,
        draw=draw,
        settings=settings,
    )
    modes, information = pyspiel.GameType.ChanceMode, pyspiel.GameType.Information
    kind = pyspiel.GameType(
        short_name=short,
        long_name=f"{name}, in GDL",
        dynamics=(
            pyspiel.GameType.Dynamics.SEQUENTIAL if sequential else pyspiel.GameType.Dynamics.SIMULTANEOUS
        ),
        chance_mode=modes.DETERMINISTIC if rules.chance is None else modes.EXPLICIT_STOCHASTIC,
        information=information.IMPERFECT_INFORMATION if hidden else information.PERFECT_INFORMATION,
        utility=(pyspiel.GameType.Utility.ZERO_SUM if zero_sum else pyspiel.GameType.Utility.GENERAL_SUM),
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=len(players),
        min_num_players=len(players),
        provides_information_state_string=True,
        provides_information_state_tensor=hidden and rules.recalled > 0,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification={},
    )
    game_class = type(f"SpielGame_{short}", (SpielGame,), {"rules": rules, "kind": kind})
    pyspiel.register_game(kind, game_class)
    _owners[short] = key
    game: SpielGame = game_class()
    _games[key] = game
    return game


def _again(name: str, rules: Rules, network: Network, settings: dict[str, Any]) -> SpielGame:
    """The game after pickling, in this or another process."""
    return spiel_game(name, PropnetMachine(rules, network), **settings)


def _is_zero_sum(machine: PropnetMachine, players: tuple[int, ...]) -> bool:
    """Whether there are two players, and their goals added up to 100 at the end of every match that random
    play has finished."""
    if len(players) != 2:
        return False
    return is_constant_sum(final_goals(machine, _ENDS, 1, _LONGEST)[:, list(players)])
