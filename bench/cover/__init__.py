"""What searches of covers and packings cost, beside what other programs count."""
