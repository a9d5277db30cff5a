"""Programs for people: one module a command, and what they share."""
