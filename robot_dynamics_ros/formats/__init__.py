"""Robot descriptions in and out: URDF, MJCF, Denavit-Hartenberg tables, YAML; the bundled robots."""
