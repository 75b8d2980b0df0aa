"""The words on the page of `seads play`: status, plan and log as small pieces of HTML."""

from __future__ import annotations

import html
from collections.abc import Sequence

from seads.planning.words import count
from seads.show.play.board import PlannedMove
from seads.show.play.session import PlaySession, Status

STATUS_COLOURS = {
    Status.READY: "#5c6470",
    Status.WORKING: "#0072b2",
    Status.SOLVED: "#00795a",
    Status.UNSOLVABLE: "#b34700",
    Status.FAILED: "#b34700",
}
WARNING = "#b34700"
PAUSED = "paused"
LOG_LINES = 6
PLAN_LINES = 8


def status_html(
    status: Status, message: str, notice: str = "", facts: str = "", paused: bool = False
) -> str:
    """What goes on now, in colour; what went wrong last; and the counts."""
    word = PAUSED if paused else status.value
    colour = STATUS_COLOURS[Status.READY if paused else status]
    warned = (
        f'<div id="seads-notice" style="color:{WARNING};font-weight:600;margin:.2em 0">'
        f"{html.escape(notice)}</div>"
        if notice
        else ""
    )
    return (
        '<div style="padding:.6em .7em .3em">'
        f'<div id="seads-status" data-status="{status.name.lower()}" style="color:white;'
        f"background:{colour};border-radius:.4em;padding:.3em .6em;"
        f'font-weight:600">{html.escape(word)}</div>'
        f'<div id="seads-message" style="margin:.5em 0 .2em">{html.escape(message)}</div>'
        f'{warned}<div id="seads-facts" style="font-size:.8em;opacity:.7">'
        f"{html.escape(facts)}</div></div>"
    )


def session_html(session: PlaySession, paused: bool = False) -> str:
    """The status of a game; only a busy one can be paused."""
    skills, steps = count(session.skills_run, "skill"), count(session.env_steps, "step")
    facts = f"{session.agent.env} · {skills} run · {steps}"
    held = paused and session.busy
    return status_html(session.status, session.message, session.notice, facts, held)


def plan_html(moves: Sequence[PlannedMove]) -> str:
    """The moves still to be made, with the numbers that stand on the board."""
    if not moves:
        return '<ol id="seads-plan" style="display:none"></ol>'
    lines = [
        f'<li style="display:grid;grid-template-columns:1.6em 1fr;'
        f'{"font-weight:600" if number == 1 else ""}"><span>{number}</span><span>'
        f'{html.escape(one.name)} <span style="opacity:.6">· skill {one.skill}</span></span></li>'
        for number, one in enumerate(moves[:PLAN_LINES], 1)
    ]
    if len(moves) > PLAN_LINES:
        lines.append(f"<li>… and {len(moves) - PLAN_LINES} more</li>")
    return (
        '<div style="padding:.1em .7em .5em"><div style="font-size:.8em;opacity:.7">'
        "Plan: the numbers on the board</div>"
        '<ol id="seads-plan" style="font-size:.88em;margin:0;padding:0;list-style:none">'
        f"{''.join(lines)}</ol></div>"
    )


def log_html(log: Sequence[str]) -> str:
    """What happened, the newest first."""
    newest = list(log)[-LOG_LINES:][::-1]
    lines = "".join(f"<li>{html.escape(line)}</li>" for line in newest)
    return (
        '<ol id="seads-log" style="font-size:.8em;margin:0 .9em .6em;padding:0;'
        f'list-style:none;min-height:1em">{lines}</ol>'
    )


def help_html(clicked: str) -> str:
    """The sentence that says what to do."""
    return (
        '<div style="padding:.6em .7em 0;font-size:.9em;line-height:1.4">'
        f"<b>1.</b> Click {clicked}, or draw a new board.<br>"
        "<b>2.</b> Press <b>Solve</b> and watch.<br>"
        "<b>3.</b> Change the board while it works.</div>"
    )
