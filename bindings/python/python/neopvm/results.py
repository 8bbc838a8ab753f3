"""The results of adding and deleting hosts."""

from __future__ import annotations

from collections.abc import Sequence

from .errors import Error, HostError, HostResult


def changed(
    call: str, names: Sequence[str], rows: Sequence[tuple[int, str, str, str]]
) -> tuple[HostResult, ...]:
    """Returns the results by name. Raises ``HostError`` if one of them is a failure."""
    results = tuple(HostResult(name, *row) for name, row in zip(names, rows))
    failed = [result for result in results if result.outcome < 0]
    if failed:
        first = failed[0]
        detail = first.detail or Error(first.outcome).cause
        at = f" at stage {first.stage}" if first.stage else ""
        cause = f"{first.name}{at}: {detail}"
        error = HostError(first.outcome, call, cause=cause, hint=first.remedy)
        error.results = results
        raise error
    return results
