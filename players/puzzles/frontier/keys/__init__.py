"""Arrays of sorted keys, and how they are written as bytes."""
