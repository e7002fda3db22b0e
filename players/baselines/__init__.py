"""The simple players that stronger ones are measured against. Read legal and random first, then greedy, then
montecarlo: what a newcomer copies to write another player."""
