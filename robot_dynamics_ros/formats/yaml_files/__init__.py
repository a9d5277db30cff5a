"""YAML files of this package: models, loops, actuators, payloads and residuals."""
