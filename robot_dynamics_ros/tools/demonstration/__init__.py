"""What demo and demo_motion are made of: the arm, its motions, and the comparison of laws that follow them."""
