"""Terms of joint torques: which a node adds, and what they are for given states."""
