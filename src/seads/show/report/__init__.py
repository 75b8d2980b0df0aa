"""Reports: runs are read from their files, drawn beside the paper, and become one page."""

from seads.show.report.report import write_report

__all__ = ["write_report"]
