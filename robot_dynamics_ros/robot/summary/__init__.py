"""What a robot is in short: the table that ``print`` shows, and the torques that gravity needs at most."""
