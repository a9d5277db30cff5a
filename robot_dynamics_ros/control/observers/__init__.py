"""What the environment does to an arm, by its motion and its torques."""
