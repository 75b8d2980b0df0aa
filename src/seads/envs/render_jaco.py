"""The Jaco arm over its board in three dimensions, drawn by MuJoCo."""

from __future__ import annotations

import atexit
import weakref
from typing import Any

import mujoco
import numpy as np
from jaxtyping import Float, UInt8

from seads.envs.jaco_meshes import FINGERS, LIMBS, RINGS
from seads.envs.jaco_scene import BoardGeometry, build_scene
from seads.envs.render_board import PAPER, paint_board
from seads.envs.render_gl import open_context
from seads.games.game import Game
from seads.games.look import FieldBox

_PICTURE = 600  # pixels of the painted board, which is cut up and glued onto the boxes

# From the front and a little from the left: the base behind the board, row 0 at the top.
_LOOK_AT = (0.0, 0.1, 0.3)
_DISTANCE, _FIELD_OF_VIEW = 2.1, 30.0
_AZIMUTH, _ELEVATION = 80.0, -45.0


class JacoView:
    """Pictures of a Jaco arm; each box of the board shows its part of the painted board."""

    def __init__(self, game: Game, geometry: BoardGeometry, width: int, height: int) -> None:
        self._game, self._geometry = game, geometry
        self._model = drawing_model(geometry, width, height)
        self._data = mujoco.MjData(self._model)
        self._scene = mujoco.MjvScene(self._model, maxgeom=self._model.ngeom + 100)
        for flag in (mujoco.mjtRndFlag.mjRND_SHADOW, mujoco.mjtRndFlag.mjRND_REFLECTION):
            self._scene.flags[flag] = False  # they take ten times as long as all the rest
        self._option = mujoco.MjvOption()
        self._camera = mujoco.MjvCamera()
        self._camera.lookat[:] = _LOOK_AT
        self._camera.distance = _DISTANCE
        self._camera.azimuth, self._camera.elevation = _AZIMUTH, _ELEVATION
        self._size = (width, height)
        self._painted: bytes | None = None
        self._context = open_context(width, height)
        self._drawing = mujoco.MjrContext(self._model, mujoco.mjtFontScale.mjFONTSCALE_100.value)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, self._drawing)
        # Also freed when forgotten, and before EGL itself goes at exit.
        self._free = weakref.finalize(self, _free, self._context, self._drawing)
        self._free.atexit = False
        atexit.register(self._free)

    def frame(
        self,
        board: UInt8[np.ndarray, "fields"],
        pose: Float[np.ndarray, "joints"],
        touching: bool,
    ) -> UInt8[np.ndarray, "height width 3"]:
        """The arm in its pose over the board; a touch shows by itself."""
        self._context.make_current()
        self._paint(board)
        self._place(pose)
        width, height = self._size
        whole = mujoco.MjrRect(0, 0, width, height)
        mujoco.mjr_render(whole, self._scene, self._drawing)
        picture = np.empty((height, width, 3), np.uint8)
        mujoco.mjr_readPixels(picture, None, whole, self._drawing)
        return picture[::-1].copy()  # OpenGL's first row is the lowest

    def close(self) -> None:
        atexit.unregister(self._free)
        self._free()

    def _place(self, pose: Float[np.ndarray, "joints"]) -> None:
        self._data.qpos[:] = pose
        mujoco.mj_kinematics(self._model, self._data)
        mujoco.mj_camlight(self._model, self._data)
        everything = mujoco.mjtCatBit.mjCAT_ALL.value
        mujoco.mjv_updateScene(
            self._model, self._data, self._option, None, self._camera, everything, self._scene
        )

    def _paint(self, board: UInt8[np.ndarray, "fields"]) -> None:
        """Give each box its part of the painted board, if it is another board than before."""
        if self._painted == board.tobytes():
            return
        self._painted = board.tobytes()
        picture = np.asarray(paint_board(self._game, board, _PICTURE))
        for texture, box in enumerate(self._geometry.boxes):
            left, top, width, height = _pixels(box)
            part = picture[top : top + height, left : left + width]
            start = self._model.tex_adr[texture]
            self._model.tex_data[start : start + part.size] = part.reshape(-1)
            mujoco.mjr_uploadTexture(self._model, self._drawing, texture)


def _pixels(box: FieldBox) -> tuple[int, int, int, int]:
    """Left, top, width and height of a box in the painted board."""
    left, top = (box.x - box.width / 2) * _PICTURE, (box.y - box.height / 2) * _PICTURE
    return round(left), round(top), round(box.width * _PICTURE), round(box.height * _PICTURE)


def drawing_model(geometry: BoardGeometry, width: int, height: int) -> mujoco.MjModel:
    """The scene for drawing alone: a texture on each box (texture i on field i), even light."""
    root = build_scene(geometry).arena.mjcf_model
    spec = mujoco.MjSpec.from_string(root.to_xml_string(), assets=root.get_assets())
    flat = mujoco.mjtBuiltin.mjBUILTIN_FLAT
    for field, box in enumerate(geometry.boxes):
        name = f"field_{field}"
        _, _, wide, high = _pixels(box)
        plane = mujoco.mjtTexture.mjTEXTURE_2D
        spec.add_texture(name=name, type=plane, builtin=flat, width=wide, height=high, nchannel=3)
        material = spec.add_material(name=name, specular=0.0, shininess=0.0)
        material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = name
        spec.geom(name).material = name
        spec.geom(name).rgba = (1, 1, 1, 1)
    paper = np.array(PAPER) / 255
    sky = mujoco.mjtTexture.mjTEXTURE_SKYBOX
    spec.add_texture(name="sky", type=sky, builtin=flat, rgb1=paper, rgb2=paper, width=8, height=48)
    spec.delete(spec.geom("ground"))
    for light in spec.lights:
        spec.delete(light)
    spec.worldbody.add_light(
        type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL,
        dir=(0.3, 0.5, -1.0),
        diffuse=(0.4,) * 3,
        specular=(0.15,) * 3,
    )
    visual = spec.visual
    visual.headlight.ambient, visual.headlight.diffuse = (0.5,) * 3, (0.25,) * 3
    for material in spec.materials:
        if "dark_gray" in material.name:
            material.rgba = (*LIMBS, 1.0)
        elif "light_gray" in material.name:
            material.rgba = (*(FINGERS if "hand" in material.name else RINGS), 1.0)
    visual.global_.offwidth, visual.global_.offheight = width, height
    visual.global_.fovy = _FIELD_OF_VIEW
    visual.quality.offsamples = 4
    return spec.compile()


def _free(context: Any, drawing: mujoco.MjrContext) -> None:
    context.make_current()
    drawing.free()
    context.free()
