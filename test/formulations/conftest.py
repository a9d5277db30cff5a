"""Formulations are plain Python."""


def pytest_itemcollected(item):
    """Mark the tests of this folder."""
    item.add_marker('plain')
