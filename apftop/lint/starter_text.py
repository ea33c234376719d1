"""The policy to start from as YAML, with what each number is for and what to look at next."""

from __future__ import annotations

import json
import shlex
import textwrap
from collections.abc import Iterator, Mapping

import click
import yaml

from apftop.findings.changes.patches import LEVEL, SCHEMA
from apftop.lint.all import linted
from apftop.lint.files import read_file
from apftop.lint.gather import policy_of, untouched
from apftop.lint.starter import Wish, precedence, starter
from apftop.present import plain
from apftop.records.linting import Linted

WIDTH = 88


def starter_text(wish: Wish, concurrency: int) -> str:
    """The level and the schema as a stream of documents, for servers of `concurrency` seats.

    Raises UsageError where lint has more than a note to say of them: then no narrow policy can be made for the user.
    """
    level, schema = (yaml.safe_dump(json.loads(json.dumps(one)), sort_keys=False) for one in starter(wish))
    documents, unread = read_file("", f"{level}---\n{schema}".encode())
    found = linted(policy_of(documents, untouched(wish.target), wish.target, concurrency), unread)
    for fault in found.faults:
        if fault.gravity != "note":
            raise click.UsageError(f"no policy can be made for {wish.user!r}: {fault.text}")
    said = dict(_comments(wish, found))
    parts = ("\n".join(_head(wish)), _commented(level, said), "---", _commented(schema, said))
    return "\n".join(part.rstrip("\n") for part in parts) + "\n"


def _head(wish: Wish) -> Iterator[str]:
    what = " and ".join(plain(_told(one)) for one in wish.resources)
    name = shlex.quote(plain(wish.name))
    yield f"# Lists of {what} in namespace {plain(wish.namespace)}"
    yield f"# by {plain(wish.user)}"
    yield "# get a small level of their own on each API server. What to do, step by step:"
    yield "#"
    yield "# 1. Save what is there:"
    yield "#      kubectl get flowschemas,prioritylevelconfigurations -o yaml > before.yaml"
    yield "# 2. See what this changes, in the seats of the other levels too (this file is starter.yaml):"
    yield "#      apftop lint starter.yaml --live"
    yield "# 3. Create the level alone: it takes its seats at once. Look with `apftop` whether others miss them."
    yield "# 4. Create the schema, and see that it matches:"
    yield f"#      apftop classify --live {_who(wish)} --expect {name} --verb list \\"
    yield f"#        --resource {_told(wish.resources[0])} --namespace {shlex.quote(plain(wish.namespace))}"
    yield "# 5. Raise the load in steps, with small requests of another account beside it, and look at refusals:"
    yield "#      sum by (instance, reason) (rate("
    yield f'#        apiserver_flowcontrol_rejected_requests_total{{priority_level="{plain(wish.name)}"}}[5m]))'
    yield "# Back: slow the clients down, delete the schema, see that the queues empty, then delete the level:"
    yield f"#      kubectl delete {SCHEMA}/{name}"
    yield f"#      kubectl delete {LEVEL}/{name}"
    yield "# Clients: few requests at once, pages, Retry-After heeded, back-off with jitter; better still, informers."
    yield "# Look again after an upgrade, and when the number of API servers changes."


def _comments(wish: Wish, found: Linted) -> Iterator[tuple[str, str]]:
    """What to say before the first line of a field, by its name."""
    seats = found.nominal_after[wish.name]
    yield (
        "nominalConcurrencyShares",
        f"{seats} of {found.concurrency} seats on each API server, taken from all other levels. Not 0: then nothing is "
        "served. More, if requests wait while the server is idle.",
    )
    yield "lendablePercent", "None of its seats are lent, so that they are there when the account comes."
    yield "borrowingLimitPercent", "0 is no borrowing; without this field it might borrow up to the whole server."
    yield (
        "queues",
        "One account is one flow, which gets a hand of 4 of the 32 queues: 4 x 10 of its requests may wait on a "
        "server, and the next one is refused with 429. Longer queues make longer waits, not more reads.",
    )
    before = "kube-system-service-accounts (900)" if precedence(wish) < 900 else "service-accounts (9000)"
    behind = "kube-scheduler (800)" if precedence(wish) < 900 else "those of the control plane (up to 900)"
    yield "matchingPrecedence", f"Tried before {before} and behind {behind}."
    yield "distinguisherMethod", "A second account in this schema would be a flow of its own."
    yield "clusterScope", "A list over all namespaces is not matched: it stays where it is today."


def _commented(text: str, said: Mapping[str, str]) -> str:
    left = dict(said)
    lines: list[str] = []
    for line in text.splitlines():
        indent = line[: len(line) - len(line.lstrip())]
        comment = left.pop(line.strip().partition(":")[0], "")
        lines += (f"{indent}# {part}" for part in textwrap.wrap(comment, WIDTH - len(indent)))
        lines.append(line)
    return "\n".join(lines)


def _who(wish: Wish) -> str:
    if wish.account is not None:
        return f"--as {shlex.quote('/'.join(wish.account))}"
    return f"--user {shlex.quote(plain(wish.user))}"


def _told(resource: tuple[str, str]) -> str:
    group, plural = resource
    return f"{plural}.{group}" if group else plural
