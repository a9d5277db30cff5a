"""The browser of the tests of pages."""

from support.project.browser import chromium

import pytest


@pytest.fixture(scope='module')
def browser():
    """Chromium for the tests of a file; longer, Playwright's event loop would be in the way of tests of asyncio."""
    with chromium() as started:
        yield started
