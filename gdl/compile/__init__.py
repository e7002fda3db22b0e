"""Rules to function-free Datalog: the front half that the prover and the grounder share."""
