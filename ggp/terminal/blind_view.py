"""Shows a match of hidden information to people who play in it: the knowledge of their roles."""

from __future__ import annotations

from rich.text import Text

from gdl.machine import State
from gdl.words import counted
from ggp.in_code import MatchSnapshot, MatchView
from ggp.terminal.human import HumanPlayer
from ggp.terminal.views import TextView
from players.belief.belief import Belief
from players.belief.likelihood import SURE, likelihoods


class BlindView(TextView):
    """Prints the percepts of the people at the terminal and the facts that are sure for them; the full state
    only after the last move."""

    def position(self, steps: int, state: State) -> None:
        self.close()
        if not steps or self.machine.is_terminal(state):
            super().position(steps, state)
        self.states[steps:] = [state]

    def thinking(self, role: int, deadline: float) -> None:
        """Show nothing: the search of another player would reveal its knowledge."""
        self.close()

    def step(self, step: MatchSnapshot) -> None:
        MatchView.step(self, step)
        own = [role for role, player in enumerate(self.players) if isinstance(player, HumanPlayer)]
        moves = [
            Text.assemble((f"{self.roles[role]} ", "dim"), self.move_name(role, step.joint[role]))
            for role in own
            if step.thought[role]
        ]
        line = Text(", ").join(moves) if moves else Text("the others move", "dim")
        self.console.print(Text(f"step {step.number}: ", "bold") + line)

    def perceived(self, role: int, belief: Belief) -> None:
        if not isinstance(self.players[role], HumanPlayer):
            return
        seen = " ".join(map(self._own.term, sorted(belief.history[-1].percepts))) or "nothing"
        self.console.print(Text.assemble((f"{self.roles[role]} sees: ", "bold"), seen), soft_wrap=True)
        count = counted(len(belief), "state")
        if not belief.exact:
            self.console.print(Text(f"  more than {count} are possible", "dim"))
            return
        sure = [term for term, share in likelihoods(belief).items() if share >= SURE]
        drawing = self.painter.draw_state(self.machine.state_of(sure), self.console.width - 2, None)
        self.console.print(Text(f"  sure, in all of {count} that are possible:", "dim"))
        self.console.print(self._picture(drawing))
