"""`seads --completion SHELL`: a script that lets a shell complete commands, options and names."""

from __future__ import annotations

import dataclasses
import importlib
import typing
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from seads.errors import check_choice

SHELLS = ("bash", "zsh", "fish")
TAKES_AN_ENV, TAKES_A_RUN = "env", ("run", "runs")


def script(shell: str, commands: Mapping[str, tuple[str, str]]) -> str:
    """What to source: `source <(seads --completion bash)`; of fish, `… fish | source`."""
    check_choice("shell", shell, SHELLS)
    words = {name: sorted(set(_words(target))) for name, (target, _) in commands.items()}
    first = " ".join([*commands, "help", "--help", "--version", "--completion"])
    if shell == "fish":
        lines = [f"complete -c seads -n __fish_use_subcommand -a '{first}'"]
        for name, known in words.items():
            there = f"-n '__fish_seen_subcommand_from {name}'"
            lines.append(f"complete -c seads {there} -a '{' '.join(known)}'")
        return "\n".join(lines)
    cases = "\n".join(f"    {name}) words='{' '.join(known)}';;" for name, known in words.items())
    before = "autoload -U +X bashcompinit && bashcompinit\n" if shell == "zsh" else ""
    return (
        f"{before}_seads() {{\n"
        f"  local words='{first}'\n"
        '  [ "$COMP_CWORD" -gt 1 ] && case "${COMP_WORDS[1]}" in\n'
        f"{cases}\n"
        f"    help) words='{' '.join(commands)}';;\n"
        "    --completion) words='bash zsh fish';;\n"
        "  esac\n"
        '  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))\n'
        "}\n"
        "complete -o default -F _seads seads"
    )


def _words(target: str) -> Iterable[str]:
    """The options of a command, its own commands, and the names that it may be given."""
    module, _, function = target.partition(":")
    run = getattr(importlib.import_module(module), function)
    (options,) = (t for k, t in typing.get_type_hints(run).items() if k != "return")
    kinds = typing.get_args(options)
    yield from (kind.__name__.lower() for kind in kinds)
    for kind in kinds or (options,):
        types = typing.get_type_hints(kind)
        for field in dataclasses.fields(kind):
            yield from _of_field(field, types[field.name])


def _of_field(field: dataclasses.Field[Any], kind: Any) -> Iterable[str]:
    if field.name == TAKES_AN_ENV:
        from seads.envs.registry import ENVIRONMENTS

        yield from ENVIRONMENTS
    elif field.name in TAKES_A_RUN:
        from seads.agent.card import packaged

        yield from () if kind is Path else packaged()  # which are no directories of runs
    else:
        yield f"--{field.name.replace('_', '-')}"
        if isinstance(field.default, bool):
            yield f"--no-{field.name.replace('_', '-')}"
