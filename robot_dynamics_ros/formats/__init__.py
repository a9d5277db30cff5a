"""Import and export of robot models: URDF, MJCF, Denavit-Hartenberg tables, YAML; the bundled robots."""
