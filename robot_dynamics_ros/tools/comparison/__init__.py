"""Formulations side by side, for compare: motions, figures and times."""
