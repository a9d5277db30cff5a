"""The table of algorithms: which kernel computes a quantity, and the steps of computing it for one robot."""
