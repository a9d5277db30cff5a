"""Control laws, trajectories and safety limits on arrays, without ROS."""
