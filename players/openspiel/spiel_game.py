"""A game of OpenSpiel for each of our games: `SpielGame`.

A game is sequential if random play never shows two players with a choice in one state, else simultaneous.
Returns are 0 before the end; then they are goal / 50 - 1 where two players' goals always add up to 100 (a
zero-sum game), else goal / 100. A state that contradicts what random play has shown is a GdlError.

The role ``random`` is no player: its moves are chance nodes. Where information is hidden the information
state is what a player has learnt, its own moves and percepts.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from gdl.errors import GdlError
from gdl.information import chance_role, hides, playing
from gdl.machine import State
from gdl.rules import Rules
from players.openspiel.spiel_state import (
    ChanceState,
    SensesObserver,
    SpielObserver,
    SpielRules,
    SpielState,
    pyspiel_module,
)
from propnet.analysis.classify import final_goals, is_constant_sum
from propnet.environments.senses import Senses
from propnet.environments.vector_match import TurnTaking
from propnet.machine import PropnetMachine
from propnet.network import Network

pyspiel = pyspiel_module()
_Game: Any = pyspiel.Game

DYNAMICS: Final = ("auto", "sequential", "simultaneous")
UTILITIES: Final = ("auto", "zero-sum", "general-sum")
_ENDS, _LONGEST = 512, 2_000


class SpielGame(_Game):  # type: ignore[misc]
    """A game of ours as OpenSpiel's; made by :func:`spiel_game`, or by OpenSpiel under its short name."""

    rules: SpielRules
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
        return ChanceState(self) if rules.chance is not None or rules.senses else SpielState(self)

    def action_to_string(self, player: int, action: int) -> str:
        """A player's move, or one of chance, as GDL text."""
        rules = self.rules
        role = rules.chance if player < 0 else rules.players[player]
        assert role is not None
        return str(rules.machine.rules.spell(rules.machine.move(role, action)))

    def state_of(self, state: State) -> SpielState:
        """A state with no history: this state of the machine."""
        made = self._state()
        made.put(state)
        return made

    def make_py_observer(self, iig_obs_type: Any = None, params: dict[str, Any] | None = None) -> Any:
        """What observes states: the base propositions as a tensor, the state as text; where information is
        hidden what the player has learnt."""
        if self.rules.senses:
            recall = iig_obs_type is not None and iig_obs_type.perfect_recall
            hidden = pyspiel.PrivateInfoType.NONE
            own = iig_obs_type is None or iig_obs_type.private_info != hidden
            return SensesObserver(self.rules, recall, own)
        if iig_obs_type is None or (iig_obs_type.public_info and not iig_obs_type.perfect_recall):
            return SpielObserver(self.rules)
        from open_spiel.python.observation import IIGObserverForPublicInfoGame

        return IIGObserverForPublicInfoGame(iig_obs_type, params)


_made: dict[tuple[Any, ...], SpielGame] = {}
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
    """The game of a machine, registered with OpenSpiel as ``gdl_NAME``; other rules or settings of the same
    name have a number behind it.

    Args:
        name: the game's.
        machine: with a network; the first one of these rules is kept.
        dynamics, utility: one of :data:`DYNAMICS` and of :data:`UTILITIES`.
        max_steps: joint moves after which a match is over, with returns of 0.
        draw: a function of a module that draws states as text, different ones differently; GDL by default.

    Raises:
        GdlError: a setting is none of these, or a sequential or zero-sum game is asked for and the game is
            none, as random play shows.
    """
    if dynamics not in DYNAMICS or utility not in UTILITIES:
        raise GdlError(
            f"dynamics={dynamics!r}, utility={utility!r}",
            remedy=f"choose of {', '.join(DYNAMICS)}; of {', '.join(UTILITIES)}",
        )
    settings = {"dynamics": dynamics, "utility": utility, "max_steps": max_steps, "draw": draw}
    key = (str(machine.rules), *settings.values())
    if key in _made:
        return _made[key]
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
    rules = SpielRules(
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
    modes, told = pyspiel.GameType.ChanceMode, pyspiel.GameType.Information
    kind = pyspiel.GameType(
        short_name=short,
        long_name=f"{name}, in GDL",
        dynamics=(
            pyspiel.GameType.Dynamics.SEQUENTIAL if sequential else pyspiel.GameType.Dynamics.SIMULTANEOUS
        ),
        chance_mode=modes.DETERMINISTIC if rules.chance is None else modes.EXPLICIT_STOCHASTIC,
        information=told.IMPERFECT_INFORMATION if hidden else told.PERFECT_INFORMATION,
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
    made = type(f"SpielGame_{short}", (SpielGame,), {"rules": rules, "kind": kind})
    pyspiel.register_game(kind, made)
    _owners[short] = key
    game: SpielGame = made()
    _made[key] = game
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
