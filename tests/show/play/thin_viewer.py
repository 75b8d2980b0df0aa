"""A viewer without a browser: a websocket that speaks as a tab does and reads what it is sent."""

from __future__ import annotations

import threading
from types import TracebackType

import msgspec
import viser
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.typing import Origin

CAMERA = {
    "type": "ViewerCameraMessage",
    "wxyz": (1.0, 0.0, 0.0, 0.0),
    "position": (0.0, 0.0, 1.0),
    "fov": 1.0,
    "near": 0.01,
    "far": 100.0,
    "image_height": 600,
    "image_width": 900,
    "look_at": (0.0, 0.0, 0.0),
    "up_direction": (0.0, 1.0, 0.0),
}
"""What makes a connection a tab: viser waits for the first camera."""


class ThinViewer:
    """Opens when the context is entered, and is a closed tab after it."""

    def __init__(self, address: str, origin: str | None = None) -> None:
        self._address = address.replace("http", "ws", 1)
        self._origin = Origin(origin or address.partition("/?")[0])
        self.received = 0
        """Bytes that the server has sent."""

    def __enter__(self) -> ThinViewer:
        spoken = f"viser-v{viser.__version__}"
        self._socket = connect(
            self._address,
            subprotocols=[spoken],  # type: ignore[list-item]
            origin=self._origin,
            max_size=None,
        )
        self._socket.send(msgspec.msgpack.encode(CAMERA))
        self._thread = threading.Thread(target=self._read, daemon=True, name="thin-viewer")
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._socket.close()
        self._thread.join(timeout=30)

    def _read(self) -> None:
        try:
            while True:
                self.received += len(self._socket.recv())
        except ConnectionClosed:
            return
