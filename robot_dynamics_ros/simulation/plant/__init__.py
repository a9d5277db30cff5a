"""The arm of simulated_arm: a MuJoCo plant with its motors and its clock."""
