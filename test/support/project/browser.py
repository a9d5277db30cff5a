"""A headless Chromium of the system, driven by Playwright."""

import shutil
from contextlib import contextmanager

import pytest

PROGRAM = next(filter(None, map(shutil.which, ('chromium', 'chromium-browser', 'google-chrome'))), None)
# No sandbox: root has none, and in a container nobody; the pages are those of the tests. /dev/shm may be small there.
# WebGL is drawn without a graphics card.
FLAGS = [
    *('--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--use-angle=swiftshader'),
    '--enable-unsafe-swiftshader',
]


def playwright():
    """Return Playwright's module; skip the test, or the file that is being imported, where there is none."""
    return pytest.importorskip('playwright.sync_api', reason='no Playwright; install it: pip install playwright')


@contextmanager
def chromium():
    """Yield a browser and end it; skip the test where there is none."""
    if PROGRAM is None:
        pytest.skip('no Chromium on this machine; install it, on Debian: apt-get install chromium')
    with playwright().sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=PROGRAM, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


class Watched:
    """A page, what it requested, and what it wrote to the console, errors included."""

    def __init__(self, browser, **context):
        """Open an empty page in a browser context of its own."""
        self.page = browser.new_context(**{'viewport': {'width': 1280, 'height': 900}} | context).new_page()
        self.requests: list[str] = []
        self.console: list[str] = []
        self.page.on('request', lambda request: self.requests.append(request.url))
        self.page.on('console', lambda message: self.console.append(f'{message.type}: {message.text}'))
        self.page.on('pageerror', lambda error: self.console.append(f'error: {error}'))
