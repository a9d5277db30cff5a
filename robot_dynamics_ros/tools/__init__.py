"""Command-line programs: one module a command, and modules that they share."""
