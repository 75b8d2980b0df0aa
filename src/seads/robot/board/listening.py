"""Where a server listens: on the first free port, to as many connections as it can bear."""

from __future__ import annotations

import asyncio
import errno
import socket

from websockets.asyncio.server import ServerConnection

from seads.errors import SeadsError

_PORTS_TRIED = 100
_MOST_CONNECTIONS = 256


class Connection(ServerConnection):
    """Hung up on at once where there are too many, so that those that play keep their place."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        if len(self.server.handlers) > _MOST_CONNECTIONS:
            self.transport.abort()


def listen(host: str, first: int) -> socket.socket:
    """A socket on the first free port from `first` on; 0 for any."""
    if not 0 <= first <= 65535:
        raise SeadsError(f"port {first} is not possible; choose from 1 to 65535, or 0 for any")
    nowhere = SeadsError(f"{host!r} is no address of this machine")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.getaddrinfo(host, first, family)
    except (socket.gaierror, UnicodeError):
        raise nowhere from None
    last = min(first + _PORTS_TRIED, 65536) if first else 1
    for port in range(first, last):
        try:
            return socket.create_server((host, port), family=family, backlog=_MOST_CONNECTIONS)
        except OSError as error:
            if error.errno == errno.EADDRNOTAVAIL:
                raise nowhere from None
            if error.errno != errno.EADDRINUSE:
                raise SeadsError(f"cannot listen: {error.strerror}") from None
    raise SeadsError(f"no port from {first} to {last - 1} is free; choose another with --port")
