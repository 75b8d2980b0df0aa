"""The subcommands of `seads`, one module each; the table of them is in `seads.cli`."""
