"""Who may have the page and talk to the board: only its own page, under its own address."""

from __future__ import annotations

import base64
import hashlib
import hmac
import ipaddress
import re
import secrets
import socket
from functools import cache
from importlib.resources import files
from urllib.parse import parse_qs

from websockets.datastructures import Headers

_CODE_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # none that look alike: it may be typed
_CODE_LENGTH = 10
_HOST = re.compile(r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+)(?::\d{1,5})?")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name
        return host == "localhost"


def new_code() -> str:
    """A code that nobody guesses in the time that a board is served."""
    return "".join(secrets.choice(_CODE_LETTERS) for _ in range(_CODE_LENGTH))


def reachable_address(host: str) -> str:
    """The address to type into a browser: of "every address", the one that others see."""
    try:
        if not ipaddress.ip_address(host).is_unspecified:
            return f"[{host}]" if ":" in host else host
    except ValueError:  # a name
        return host
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing: only asks which way it would go
        except OSError:  # no network
            return "127.0.0.1"
        return str(probe.getsockname()[0])


class Access:
    """Decides by a request's headers and address; gives the sentence to refuse it with."""

    def __init__(self, host: str, code: str | None, cookie: str | None = None) -> None:
        """With the name of a `cookie` the code may also be there."""
        self._host, self._code, self._cookie = host, code, cookie

    def refusal(self, headers: Headers, query: str, local: str) -> str | None:
        """Why this request to our address `local` gets nothing; None if it may go on.

        A page elsewhere can make a browser connect to us under a name of its own; but the
        browser then says that name, and we know ours.
        """
        named = headers.get_all("Host")
        if len(named) != 1 or not self._is_ours(named[0], local):
            return f"not an address of this board: {', '.join(named)[:60]!r}"
        if self._code is not None and not (self._has_code(query) or self._remembers(headers)):
            return "the code in the address is missing or wrong; open the address that was printed"
        return None

    def foreign(self, headers: Headers) -> str | None:
        """Why a WebSocket does not come from our own page; None if it does."""
        origins = headers.get_all("Origin")
        if origins == [f"http://{headers['Host']}"]:
            return None
        return f"not from this board's own page: {', '.join(origins)[:60]!r}"

    def _is_ours(self, named: str, local: str) -> bool:
        match = _HOST.fullmatch(named)
        if match is None:
            return False
        name = match[1].strip("[]").lower()
        address = ipaddress.ip_address(local)
        own = getattr(address, "ipv4_mapped", None) or address
        # the port is free: a forwarded one differs, and the origin is held against it anyway
        return (
            name == str(own)
            or (name == "localhost" and own.is_loopback)
            or (name == self._host.lower() and name not in ("0.0.0.0", "::"))
        )

    def _has_code(self, query: str) -> bool:
        try:
            given = parse_qs(query, max_num_fields=8).get("code", [])
        except ValueError:
            return False
        return len(given) == 1 and self._is_right(given[0])

    def _remembers(self, headers: Headers) -> bool:
        pairs = [one.strip() for line in headers.get_all("Cookie") for one in line.split(";")]
        found = [one.partition("=")[2] for one in pairs if one.partition("=")[0] == self._cookie]
        return len(found) == 1 and self._is_right(found[0])

    def _is_right(self, given: str) -> bool:
        right = str(self._code).encode()
        return hmac.compare_digest(given.encode(errors="surrogatepass"), right)


@cache
def page() -> bytes:
    """The page, complete in one file."""
    return (files("seads.robot.board") / "page.html").read_bytes()


def page_headers(host: str) -> dict[str, str]:
    """Lets the page run what it brings, talk to this server, and nothing else."""
    style, script = (_fingerprint(tag) for tag in ("style", "script"))
    return {
        "Content-Type": "text/html; charset=utf-8",
        "Content-Security-Policy": (
            f"default-src 'none'; style-src {style}; script-src {script}; img-src data:; "
            f"connect-src 'self' ws://{host}; base-uri 'none'; form-action 'none'; "
            "frame-ancestors 'none'"
        ),
        "Cache-Control": "no-store",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }


def _fingerprint(tag: str) -> str:
    inline = re.search(rf"<{tag}>(.*?)</{tag}>".encode(), page(), re.DOTALL)
    if inline is None:
        raise RuntimeError(f"the page has no <{tag}>")
    return f"'sha256-{base64.b64encode(hashlib.sha256(inline[1]).digest()).decode()}'"
