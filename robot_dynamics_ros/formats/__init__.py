"""Import and export of robot models: URDF, SDF, MJCF, Denavit-Hartenberg tables, YAML; the bundled robots."""
