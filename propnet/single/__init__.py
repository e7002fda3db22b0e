"""One state at a time: the network kept settled on a state and moved to the next by what changes.

A step of a game flips few gates. :mod:`propnet.single.wiring` lays a network out so that a flip finds what it
changes, :mod:`propnet.single.one_state` moves the wires from state to state, and
:class:`propnet.single.one_state.OneState` is what a machine asks. For many states at once 512 lanes are
faster by far (:mod:`propnet.kernels`).
"""
