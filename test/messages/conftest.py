"""Messages of ROS 2, read and written."""


def pytest_itemcollected(item):
    """Mark the tests of this folder."""
    item.add_marker('plain')
    item.add_marker('quick')
    item.add_marker('ros')
