"""The Jaco arm's parts as coloured meshes, for pages that draw in three dimensions."""

from __future__ import annotations

import mujoco

from seads.envs.manipulator import Mesh

LIMBS = (0.28, 0.36, 0.50)
RINGS = (0.72, 0.76, 0.82)
FINGERS = (0.46, 0.54, 0.66)
"""Red, green and blue from 0 to 1 of the arm's parts, in pictures too."""

_found: list[Mesh] = []


def arm_meshes(model: mujoco.MjModel) -> list[Mesh]:
    """Each visible part of the arm; found once, since the arm is the same over every board."""
    if _found:
        return _found
    from mjviser.conversions import merge_geoms

    for geom in range(model.ngeom):
        body = model.body(int(model.geom_bodyid[geom])).name
        if "jaco" not in body or model.geom_group[geom] > 2:
            continue
        mesh = merge_geoms(model, [geom])
        colour = _colour(model, geom, body)
        _found.append(Mesh(body, str(geom), mesh.vertices, mesh.faces, colour))
    return _found


def _colour(model: mujoco.MjModel, geom: int, body: str) -> tuple[int, int, int]:
    material = int(model.geom_matid[geom])
    light = material >= 0 and "dark" not in model.mat(material).name
    red, green, blue = (FINGERS if "hand" in body else RINGS) if light else LIMBS
    return round(255 * red), round(255 * green), round(255 * blue)
