"""What engines of cover problems cost, on problems that others are measured by."""
