"""Programs for people: the demo and the replay of a measured log."""
