"""What messages between nodes cost, and what a tournament on several nodes takes."""
