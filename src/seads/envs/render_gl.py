"""OpenGL without a screen: EGL or else OSMesa, and one sentence where there is neither.

MuJoCo chooses its OpenGL library when it is first imported: the one MUJOCO_GL names, or else
one that needs a screen. Here the choice is made when the first picture is.
"""

from __future__ import annotations

import ctypes
import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from seads.errors import SeadsError

BACKENDS = {
    "egl": "mujoco.egl",
    "osmesa": "mujoco.osmesa",
    "glfw": "mujoco.glfw",
    "glx": "mujoco.glfw",
}
"""What MUJOCO_GL may be for pictures, and the module that makes its contexts."""
OFF = ("disable", "disabled", "off", "false", "0")
"""What it may be where nothing is drawn."""

_OSMESA = ("libOSMesa.so.8", "libOSMesa.so.6", "libOSMesa.so")
_PLATFORM_DEVICE = 0x313F  # EGL_PLATFORM_DEVICE_EXT
_MOST_DEVICES = 16


def choose_backend() -> str:
    """What MUJOCO_GL says; if it says nothing, EGL where that works, else OSMesa."""
    setting = os.environ.get("MUJOCO_GL", "").lower().strip()
    if not setting:
        if egl_works():
            return "egl"
        if osmesa_loads():
            return "osmesa"
        raise no_opengl()
    if setting not in BACKENDS:
        choices = ", ".join(BACKENDS)
        raise SeadsError(f"MUJOCO_GL={setting} draws no pictures; choose from {choices}, or unset")
    works = {"egl": egl_works, "osmesa": osmesa_loads}.get(setting, screen_is_there)
    if not works():
        raise no_opengl()
    return setting


def open_context(width: int, height: int) -> Any:
    """An OpenGL context that draws into memory, made current; `free()` it when done."""
    backend = choose_backend()
    try:
        context = importlib.import_module(BACKENDS[backend]).GLContext(width, height)
        context.make_current()
    # PyOpenGL meets a missing library with AttributeError on what it should hold.
    except (ImportError, AttributeError, OSError, RuntimeError) as error:
        raise no_opengl() from error
    return context


@contextmanager
def setting_checked() -> Iterator[None]:
    """Turn the many ways in which MuJoCo's import fails over a wrong MUJOCO_GL into a sentence."""
    try:
        yield
    except ModuleNotFoundError:  # of a package that is not installed, whatever is drawn
        raise
    except (ImportError, AttributeError, RuntimeError):
        if os.environ.get("MUJOCO_GL", OFF[0]).lower() not in OFF:
            choose_backend()
        raise


def no_opengl() -> SeadsError:
    """The error for a machine that cannot draw in three dimensions."""
    setting = os.environ.get("MUJOCO_GL")
    tried = f"MUJOCO_GL={setting} does" if setting else "EGL and OSMesa do"
    return SeadsError(
        f"{tried} not work here, and the arm cannot be drawn without OpenGL: install the Debian "
        "packages libegl1 and libgl1-mesa-dri, or libosmesa6"
    )


def screen_is_there() -> bool:
    """Whether a window could be opened."""
    return "DISPLAY" in os.environ or "WAYLAND_DISPLAY" in os.environ


def osmesa_loads() -> bool:
    """Whether the OSMesa library is there."""
    return any(_load(name) is not None for name in _OSMESA)


def egl_works() -> bool:
    """Whether EGL has a device to draw with.

    Asked of the library itself: once PyOpenGL has been imported for EGL it cannot be
    turned to OSMesa any more.
    """
    egl = _load("libEGL.so.1")
    if egl is None:
        return False
    pointer, number = ctypes.c_void_p, ctypes.c_int
    egl.eglGetProcAddress.restype, egl.eglGetProcAddress.argtypes = pointer, [ctypes.c_char_p]
    egl.eglInitialize.argtypes = [pointer, pointer, pointer]
    query_address = egl.eglGetProcAddress(b"eglQueryDevicesEXT")
    display_address = egl.eglGetProcAddress(b"eglGetPlatformDisplayEXT")
    if not query_address or not display_address:
        return False
    query_devices = ctypes.CFUNCTYPE(number, number, pointer, pointer)(query_address)
    get_display = ctypes.CFUNCTYPE(pointer, number, pointer, pointer)(display_address)
    devices, count = (pointer * _MOST_DEVICES)(), number(0)
    if not query_devices(_MOST_DEVICES, ctypes.addressof(devices), ctypes.addressof(count)):
        return False
    displays = [get_display(_PLATFORM_DEVICE, device, None) for device in devices[: count.value]]
    return any(display and egl.eglInitialize(display, None, None) for display in displays)


def _load(name: str) -> ctypes.CDLL | None:
    try:
        return ctypes.CDLL(name)
    except OSError:
        return None
