"""Figures: plots, pages of curves, and shapes of links."""
