"""Simulations, whose loops run as plain Python, too."""


def pytest_itemcollected(item):
    """Mark the tests of this folder."""
    item.add_marker('plain')
