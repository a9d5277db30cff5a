"""Control laws, their gains and their limits."""
