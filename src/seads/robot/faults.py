"""What can go wrong with the arm; each fault says what happened and what to do about it."""

from __future__ import annotations

from enum import Enum

from seads.errors import WorldFault


class Afterwards(Enum):
    """How a program goes on after a fault, once the arm was stopped."""

    GO_ON = "the arm stands and its position is known: go on with the next action"
    TOUCH_CORNER = "configured anew: touch a corner before anything else"
    PERSON = "a person must look: the checkpoint is kept, start again afterwards"


class RobotFault(WorldFault):
    """The arm did not do as it was told; it was stopped before this was raised."""

    afterwards = Afterwards.PERSON
    made = 0
    """How many legs of a way were made before it."""


class LineLost(RobotFault):
    """The cable, or the process at its other end, is gone."""


class NoAnswer(RobotFault):
    """The deadline passed and no answer with the right number came."""

    afterwards = Afterwards.GO_ON


class Unstoppable(RobotFault):
    """The arm did not answer to a stop: only its switch helps."""


class UnknownFirmware(RobotFault):
    """The version is none whose habits are known; nothing was moved."""


class NotUnderstood(RobotFault):
    """The firmware refused a command: E20, E21, E25 or a bare number."""


class BufferFull(RobotFault):
    """E23: the command was dropped."""

    afterwards = Afterwards.GO_ON


class OutOfReach(RobotFault):
    """E22: the arm cannot go there; nothing moved."""

    afterwards = Afterwards.GO_ON


class Detached(RobotFault):
    """E27: the motors were off; they are on again and the position was read anew."""

    afterwards = Afterwards.GO_ON


class EncoderFault(RobotFault):
    """E26: the arm does not know its own angles."""


class PowerLost(RobotFault):
    """The arm's power supply is off (`@5 V0`, E24)."""


class Rebooted(RobotFault):
    """The firmware started anew (`@1` that nobody asked for)."""

    afterwards = Afterwards.TOUCH_CORNER


class Slipped(RobotFault):
    """The arm says done but stands elsewhere: it slipped, or never moved."""


class Refused(RobotFault):
    """The guard let a command not pass; nothing was sent."""

    afterwards = Afterwards.GO_ON


class CornerFirst(Refused):
    """Nothing but probing moves until a corner has been touched."""

    afterwards = Afterwards.TOUCH_CORNER


class Stopped(RobotFault):
    """Somebody asked for a stop: `seads robot stop`, or the program itself."""


class DeadMan(RobotFault):
    """The program gave no sign of life while the arm moved."""


class ProgramGone(RobotFault):
    """The program closed its end of the line, or was killed."""


class KeeperGone(RobotFault):
    """The process that holds the line has ended."""


class NoContact(RobotFault):
    """The pen came down to the floor and the screen saw nothing."""

    afterwards = Afterwards.GO_ON


class TooManyMisses(RobotFault):
    """Pushes in a row that the screen did not see."""


class NoScreen(RobotFault):
    """The page was closed, or the screen locked, for too long."""


def named(name: str, message: str) -> RobotFault:
    """The fault of a class, by its name; any other name gives the plain `RobotFault`."""
    kinds = [RobotFault]
    while kinds:
        kind = kinds.pop()
        if kind.__name__ == name:
            return kind(message)
        kinds += kind.__subclasses__()
    return RobotFault(message)
