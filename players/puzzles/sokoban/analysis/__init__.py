"""What the walls of a level prove: distances, dead squares, sides, tunnels, rooms and how to pack them."""
