"""The `seads` command: finds the subcommand, reads its options, and reports errors in a sentence.

A subcommand is a module with a frozen dataclass of options and `run(options)`, plus its row in
`COMMANDS`. What `run` prints is for people; what it returns is printed as JSON under `--json`,
and then everything else that it prints goes to stderr. Only the module asked for is imported.
"""

from __future__ import annotations

import contextlib
import errno
import importlib
import json
import os
import select
import signal
import sys
import threading
import typing
from collections.abc import Callable, Sequence
from typing import Any

from seads import __version__
from seads.errors import Interrupted, Refused, SeadsError, unknown
from seads.terminal import unfailing_streams
from seads.threads import any_left_behind

COMMANDS: dict[str, tuple[str, str]] = {
    "envs": ("seads.commands.envs:run", "what can be trained on"),
    "check": ("seads.commands.check:run", "is an environment of one's own ready to be learned"),
    "train": ("seads.commands.train:run", "learn skills and what they do; resume a run"),
    "evaluate": ("seads.commands.evaluate:run", "coverage of the moves, boards solved"),
    "solve": ("seads.commands.solve:run", "plan for a board and execute the plan"),
    "plan": ("seads.commands.plan:run", "the plan alone; what the skills do, as operators"),
    "sweep": ("seads.commands.sweep:run", "the runs of a study, side by side, on Ray"),
    "tables": ("seads.commands.tables:run", "the paper's tables and figures from those runs"),
    "report": ("seads.commands.report:run", "one page with everything about one or many runs"),
    "play": ("seads.commands.play:run", "watch an agent solve your boards in the browser"),
    "robot": (
        "seads.commands.robot:run",
        "a real arm at a touch screen, and its twin",
    ),
    "agents": ("seads.commands.agents:run", "the trained agents that come with the package"),
}

# Which extra of the package brings an optional library.
EXTRAS = {
    "imageio": "video",
    "imageio_ffmpeg": "video",
    "matplotlib": "plots",
    "optuna": "sweep",
    "ray": "sweep",
    "mjviser": "web",
    "serial": "robot",
    "websockets": "robot",
    "ogbench": "examples",
    "unified_planning": "planning",
    "viser": "web",
    "wandb": "wandb",
}

INTERRUPTED = 130
CLOSED_PIPE = 1
USER_ERROR = 2

DISK_FULL = (errno.ENOSPC, errno.EDQUOT)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit status: 0, 2 for a user's error, 130 for Ctrl-C.

    A user's error is a `SeadsError`, trouble with a file, or a missing extra of the package.
    Anything else is a defect, and keeps its traceback.
    """
    # a shell gives its background jobs a Ctrl-C that does nothing; who sends one means it
    in_main = threading.current_thread() is threading.main_thread()
    if in_main and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    with unfailing_streams():
        status = _main(list(sys.argv[1:] if arguments is None else arguments))
        if status == INTERRUPTED and any_left_behind():
            # a user's environment hangs in a thread, which would be in Python's way to its end
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    return status


def _main(arguments: list[str]) -> int:
    try:
        status = _dispatch(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        if not _reader_left():
            raise
        # Python flushes stdout once more at exit: let that go nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED_PIPE
    except SeadsError as error:
        return _tell(str(error))
    except OSError as error:
        if error.filename is not None:
            return _tell(f"{error.filename}: {error.strerror}")
        if error.errno in DISK_FULL:
            return _tell(str(error.strerror))
        raise
    except ModuleNotFoundError as error:
        extra = EXTRAS.get((error.name or "").partition(".")[0])
        if extra is None:
            raise
        return _tell(f"{error.name} is missing; pip install 'seads[{extra}]'")
    return status


def help_text() -> str:
    """What `seads --help` prints: every command with its one line."""
    width = max(map(len, COMMANDS))
    rows = "\n".join(f"  {name:<{width}}  {line}" for name, (_, line) in COMMANDS.items())
    return (
        "usage: seads [--version] [--completion bash|zsh|fish] COMMAND [options]\n\n"
        "Skills with symbolic effects on physically embedded board games.\n\n"
        f"commands:\n{rows}\n\n"
        "`seads help COMMAND` shows a command's options."
    )


def _dispatch(arguments: list[str]) -> int:
    if arguments[:1] == ["help"]:  # as git has it: `seads help train`
        arguments = [*arguments[1:2], "--help"]
    if not arguments or arguments[0] in ("-h", "--help"):
        print(help_text())
    elif arguments[0] == "--version":
        print(f"seads {__version__}")
    elif arguments[0] == "--completion":
        from seads.commands.completion import script

        print(script(arguments[1] if arguments[1:] else "", COMMANDS))
    elif arguments[0] in COMMANDS:
        return _execute(arguments[0], arguments[1:])
    else:
        raise unknown("command", arguments[0], COMMANDS)
    return 0


def parsed(name: str, arguments: list[str]) -> tuple[Callable[[Any], Any], Any]:
    """A command and its options; exits with a usage line where the words are none."""
    target, line = COMMANDS[name]
    module, _, function = target.partition(":")
    run: Callable[[Any], Any] = getattr(importlib.import_module(module), function)
    (options_type,) = (t for k, t in typing.get_type_hints(run).items() if k != "return")

    import tyro  # not at the top: `seads --help` must answer at once

    from seads.commands.values import pairs_apart, registry, without_empty_defaults

    return run, tyro.cli(
        without_empty_defaults(options_type),
        prog=f"seads {name}",
        description=line,
        args=pairs_apart(arguments),
        registry=registry(),
    )


def _execute(name: str, arguments: list[str]) -> int:
    run, options = parsed(name, arguments)
    as_json = getattr(options, "json", False)
    status = 0
    with contextlib.redirect_stdout(sys.stderr) if as_json else contextlib.nullcontext():
        try:
            result = run(options)
        except Interrupted as stopped:  # what was done until then is a result, too
            result, status = stopped.result, INTERRUPTED
        except Refused as refused:  # and so is what a refusal rests on
            result, status = refused.result, _tell(str(refused))
    if as_json:
        print(json.dumps(result, indent=2, allow_nan=False))
    return status or _status(result)


def _status(result: Any) -> int:
    """What a command says of its own success; most end well or not at all."""
    return result.get("exit_status", 0) if isinstance(result, dict) else 0


def _reader_left() -> bool:
    """Whether it was our stdout that broke, and not a pipe to one of our own processes."""
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))


def _tell(sentence: str) -> int:
    print(f"seads: {sentence}", file=sys.stderr)
    return USER_ERROR


if __name__ == "__main__":
    sys.exit(main())
