"""The playouts of a search: made with equal chances, or by a policy where that was found to be better."""

from __future__ import annotations

from players.batch_machine import BatchMachine, Ends, NetworkBatch, Records
from players.uct.rollouts.choose_policy import PlayoutChoice
from players.uct.rollouts.move_averages import PlayoutPolicy

POLICIES = ("auto", "equal", "averages")
"""What may be asked for: what trials recommend, equal chances, or moves by their averages."""
_REMEMBER = 0.5
"""How much what moves have brought still counts when the root has moved."""


class Playing:
    """How the playouts of one search choose moves.

    Args:
        lanes: the machine; the scalar ones know equal chances only.
        asked: one of :data:`POLICIES`.
        seed: of the trials.

    Attributes:
        policy: by which playouts choose moves; None for equal chances.
    """

    def __init__(self, lanes: BatchMachine, asked: str, seed: int) -> None:
        self.policy: PlayoutPolicy | None = None
        self._choice: PlayoutChoice | None = None
        self._seed = seed
        self._batched = lanes
        if not isinstance(lanes, NetworkBatch) or len(lanes.machine.roles) == 1:
            return
        if asked == "averages":
            self.policy = PlayoutPolicy(lanes.first_column, 1.0)
        elif asked == "auto":
            self._choice = PlayoutChoice(lanes, seed)

    def set_lanes(self, lanes: BatchMachine) -> None:
        """Play on this machine from now on, which numbers states and moves alike. Playouts with a guide are
        tried anew, and it goes on as before until that is done."""
        other = lanes.guided != self._batched.guided
        self._batched = lanes
        if self._choice is None or not isinstance(lanes, NetworkBatch):
            return
        if other or not self._choice.done:  # if it is only faster, what is under way is done sooner anew
            self._choice = PlayoutChoice(lanes, self._seed)

    def set_root(self) -> None:
        """The root has moved: what was learnt counts for less."""
        if self.policy is not None:
            self.policy.forget(_REMEMBER)

    def playouts(
        self,
        starts: Records,
        seed: int,
        steps: int,
        deadline: float,
        each: int,
    ) -> Ends:
        """Playouts from these states; the arguments are those of
        :meth:`players.batch_machine.BatchMachine.playouts`."""
        policy = self.policy
        if policy is None:
            return self._batched.playouts(starts, seed, steps, deadline, each)
        tallies, weights = policy.new_tallies(), policy.weights
        ends = self._batched.playouts(
            starts, seed, steps, deadline, each, weights=weights, tallies=tallies, counted=1
        )
        policy.learn(tallies)
        return ends

    def grant(self, seconds: float) -> None:
        """Take note of time that the search has taken."""
        if self._choice is not None:
            self._choice.grant(seconds)

    def learn(self, deadline: float) -> bool:
        """Find out for some milliseconds what is better, if that is not known and it is time for that.
        Returns whether it did.

        ``deadline``: when the search must be over; time.monotonic() seconds."""
        choice = self._choice
        if choice is None or not choice.learn(deadline):
            return False
        if choice.done:
            wanted = choice.temperature
            if not wanted:
                self.policy = None
            elif self.policy is None or self.policy.temperature != wanted:
                self.policy = PlayoutPolicy(self._batched.first_column, wanted)
        return True

    def __str__(self) -> str:
        """What was found out, empty if nothing yet."""
        return str(self._choice) if self._choice is not None and self._choice.done else ""
