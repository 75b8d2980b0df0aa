"""A real browser on the page of `seads play`: chromium without a screen, and what a person does."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.conftest import need

PATIENCE = 240
"""Seconds to wait for a state; a browser that draws in software on a busy machine is slow."""
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
    "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist",
    "--window-size=900,600", "--force-device-scale-factor=0.75",
)  # fmt: skip


@contextmanager
def chromium(profile: Path) -> Iterator[Any]:
    """A browser with an empty profile in that directory."""
    there = all(shutil.which(program) for program in ("chromium", "chromedriver"))
    need(there, "a browser", "chromium chromium-driver")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    service = webdriver.ChromeService(executable_path=str(shutil.which("chromedriver")))
    driver: Any = webdriver.Chrome(options=options, service=service)
    driver.set_script_timeout(PATIENCE)
    driver.command_executor.client_config.timeout = 2 * PATIENCE
    try:
        yield driver
    finally:
        driver.quit()


def wait(condition: Callable[[], Any], what: str) -> Any:
    """What the condition finds, once it finds something."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.2)
    raise AssertionError(f"waited {PATIENCE} s in vain for {what}")


def read(browser: Any, element: str) -> str:
    """The text of an element, without the waits of a page that is busy drawing."""
    return browser.execute_script(
        f"const e = document.getElementById('{element}'); return e ? e.innerText : '';"
    )


def press(browser: Any, label: str) -> None:
    """Click the button with this label, once the page has it."""
    script = (
        "const b = [...document.querySelectorAll('button')].find("
        "b => b.innerText.trim() === arguments[0]); if (b) b.click(); return !!b;"
    )
    wait(lambda: browser.execute_script(script, label), f"a button {label!r} on the page")


def choose(browser: Any, label: str, value: str) -> None:
    """Pick from a dropdown: open it with a click, and click what it then offers."""
    opened = browser.execute_script(
        "const l = [...document.querySelectorAll('label')].find("
        "l => l.innerText.trim() === arguments[0]); if (!l) return false;"
        "const box = document.getElementById(l.htmlFor);"
        "box.scrollIntoView({block: 'center'}); box.click(); return true;",  # else it stays shut
        label,
    )
    assert opened, f"no dropdown {label!r} on the page"
    wait(
        lambda: browser.execute_script(
            "const o = [...document.querySelectorAll('[role=option]')].find("
            "o => o.offsetParent && o.innerText.trim() === arguments[0]);"
            "if (o) o.click(); return !!o;",
            value,
        ),
        f"{value!r} among what {label!r} offers",
    )
