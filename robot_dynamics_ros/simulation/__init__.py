"""Plants to try a controller on."""
