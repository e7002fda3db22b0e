"""Networks recoded to few bits: of propositions that exclude each other only which one is true is kept."""
