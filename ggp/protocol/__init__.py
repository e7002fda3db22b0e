"""What game managers and players say to each other: messages, HTTP, match records, ciphers."""
