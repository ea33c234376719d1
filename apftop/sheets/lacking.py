"""Why a dump is not there, or is not asked for now: by replica, with what grants it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from apftop.derive.access import access_problems
from apftop.present import plain
from apftop.records.frame import Replica
from apftop.records.moment import Moment
from apftop.records.raw import Endpoint
from apftop.records.state import Outcome
from apftop.sheets.answering import reach
from apftop.sheets.look import Look
from apftop.sheets.scope import replicas_of

NOT_ASKED = "not asked for yet"


def lacking(moment: Moment, look: Look, endpoint: Endpoint, has: Callable[[Replica], bool]) -> tuple[str, ...]:
    """One line for each reason why replicas in scope do not have, or do not renew, the dump of an endpoint."""
    reasons: dict[str, list[str]] = defaultdict(list)
    for replica in replicas_of(moment, look):
        if not has(replica) and reach(moment, replica) == "silent" and replica.problems:
            reasons[replica.problems[0]].append(replica.name)
            continue
        plan = moment.plans.get(replica.name)
        left_out = plan.left_out.get(endpoint) if plan else None
        why = "" if has(replica) else _why(replica, endpoint)
        if left_out and why in ("", NOT_ASKED):
            why = f"left out for now: {left_out}"
        if why:
            reasons[why].append(replica.name)
    return tuple(f"{endpoint.value} of {', '.join(names)}: {why}" for why, names in _plainly(reasons))


def _plainly(reasons: dict[str, list[str]]) -> list[tuple[str, list[str]]]:
    return [(plain(why), [plain(name) for name in names]) for why, names in reasons.items()]


def _why(replica: Replica, endpoint: Endpoint) -> str:
    answer = replica.endpoints.get(endpoint.value)
    if answer is None:
        return NOT_ASKED
    if isinstance(answer, str):
        return answer
    return next(iter(access_problems({endpoint: Outcome(answer)})), "its answer holds nothing")
