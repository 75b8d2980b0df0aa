"""A wire between page and host that a test can cut, or make carry nothing one way."""

from __future__ import annotations

import contextlib
import socket
import threading


class Wire:
    """Forwards a port of its own to another one; `port` is where to connect."""

    def __init__(self, to: int) -> None:
        self._to = to
        self._ends: list[socket.socket] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listening.getsockname()[1])
        self.deaf = False
        """The page hears nothing that the host says."""
        self.mute = False
        """The host hears nothing that the page says."""
        self.broken = False
        """Nothing gets through; every connection ends at once."""
        threading.Thread(target=self._accept, daemon=True, name="wire").start()

    def cut(self) -> None:
        """All connections end; new ones do too, while the wire is broken."""
        for end in self._ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        self._ends.clear()

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self.cut()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                page, _ = self._listening.accept()
                if self.broken:
                    page.close()
                    continue
                host = socket.create_connection(("127.0.0.1", self._to))
                self._ends += [page, host]
                for source, sink, to_page in ((page, host, False), (host, page, True)):
                    threading.Thread(
                        target=self._carry, args=(source, sink, to_page), daemon=True, name="wire"
                    ).start()

    def _carry(self, source: socket.socket, sink: socket.socket, to_page: bool) -> None:
        with contextlib.suppress(OSError):
            while octets := source.recv(65536):
                if not (self.deaf if to_page else self.mute):
                    sink.sendall(octets)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)
