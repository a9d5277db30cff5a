"""What is computed: the table of algorithms, and the steps of a quantity for one robot."""
