"""The extension module, whose tests take no time."""


def pytest_itemcollected(item):
    """Mark the tests of this folder."""
    item.add_marker('quick')
