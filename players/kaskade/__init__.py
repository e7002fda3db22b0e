"""The kaskade: prover, network, native code, each built by a process, the furthest that is ready plays."""
