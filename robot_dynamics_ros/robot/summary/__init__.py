"""Summary of a robot: the table that ``print`` shows, and the largest torques that gravity needs."""
