"""One state at a time: the network is kept settled on a state, and only changes move it to the next one.

A step of a game flips few gates. :mod:`propnet.single.one_state` lays a network out so that a flip finds the
gates that it changes, and moves the wires from state to state;
:class:`propnet.single.one_state.OneState` is the interface for machines. For many states at once 512 lanes
are far faster (:mod:`propnet.kernels`).
"""
