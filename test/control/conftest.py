"""Laws are quickly run, also as plain Python."""


def pytest_itemcollected(item):
    """Mark the tests of this folder."""
    item.add_marker('plain')
    item.add_marker('quick')
