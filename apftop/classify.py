"""`apftop classify`: which schema, level and flow a request gets, why not another, and what a server says itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from apftop.apf.allocation import limits
from apftop.apf.attributes import Attributes, attributes
from apftop.apf.classify import Classifier
from apftop.apf.identity import NODE_PREFIX, NODES, added_groups
from apftop.apf.release import Release
from apftop.apf.shards import dealable
from apftop.classifying.classified import Setting, classified
from apftop.classifying.document import document, told
from apftop.classifying.kubectl_line import kubectl_requests
from apftop.classifying.requests_file import read_requests
from apftop.classifying.text import lines
from apftop.cli_options import asks_servers
from apftop.derive.frame import frame
from apftop.errors import UNREAD, Trouble
from apftop.fetch import Turn, run
from apftop.lint.command import LATEST, SEATS, target_of
from apftop.lint.gather import as_built, objects_of
from apftop.lint.policy import Objects
from apftop.lint.sources import Source, from_files, from_samples
from apftop.output import complain, write
from apftop.present import json_text, plain
from apftop.probe import Said, probed
from apftop.records.classified import Asked, Classified
from apftop.records.parsed import ParseError
from apftop.records.raw import OBJECTS, Endpoint
from apftop.report.known import taken_in
from apftop.report.looking import Servers, manner_of_looks, servers

OTHER = 1
"""The exit code where a request does not get the schema that was expected, or a server says otherwise."""


def classify(path: Path | None, options: Mapping[str, Any]) -> int:
    """Print where requests go; 1 where one does not get the schema of `--expect`, or the server says otherwise."""
    try:
        asked = _asked(path, options)
    except ParseError as error:
        raise click.UsageError(str(error)) from None
    at = servers(options) if options["live"] or options["probe"] or asks_servers(options) else None
    source = _policy(path, options, at)
    setting = _setting(source, options)
    found = [classified(one, setting, options["expect"] or "") for one in asked]
    heard = (
        {one.name: probed(one.request, at.accesses[0], _names(source)) for one in asked}
        if options["probe"] and at is not None
        else {}
    )
    _show(found, heard, options)
    complain(source.problems)
    if source.problems:
        return UNREAD
    other = options["expect"] and any(one.schema != options["expect"] for one in found)
    return OTHER if other or any(_differs(one, heard.get(one.asked.name)) for one in found) else 0


def _asked(path: Path | None, options: Mapping[str, Any]) -> tuple[Asked, ...]:
    """The requests in question; raises ParseError, and UsageError where there are none."""
    user, groups, notes = _identity(options)
    file = options["requests"] or (path / "requests.json" if path is not None and path.is_dir() else None)
    if options["kubectl"]:
        return tuple(
            replace(one, notes=notes)
            for one in kubectl_requests(options["kubectl"], user, groups, options["namespace"] or "default")
        )
    if options["resource"] or options["url_path"]:
        return (_by_flags(options, user, groups, notes),)
    if file is None:
        raise click.UsageError("name a request: --verb and --resource, --path, --kubectl, or --requests FILE")
    try:
        return read_requests(Path(file).read_bytes())
    except OSError as error:
        raise Trouble("the requests cannot be read", str(file), (error.strerror or "").lower()) from error


def _identity(options: Mapping[str, Any]) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Who asks, with the groups that every server adds, and what was taken for granted."""
    user = options["user"] or "system:anonymous"
    account, _, name = (options["account"] or "").partition("/")
    if options["account"]:
        if not account or not name:
            raise click.UsageError("--as is a service account as NAMESPACE/NAME")
        user = f"system:serviceaccount:{account}:{name}"
    groups, notes = tuple(options["groups"]), []
    if user.startswith(NODE_PREFIX) and NODES not in groups:
        groups = (*groups, NODES)
        notes.append(f"a node's certificate has the group {NODES}")
    every = added_groups(user, groups)
    if added := [one for one in every if one not in options["groups"] and one != NODES]:
        notes.append(f"every server adds {', '.join(added)}")
    return user, every, tuple(notes)


def _by_flags(options: Mapping[str, Any], user: str, groups: tuple[str, ...], notes: tuple[str, ...]) -> Asked:
    path, _, query = (options["url_path"] or "").partition("?")
    timeout = options["timeout"]
    query = "&".join(part for part in (query, f"timeout={timeout}" if timeout else "") if part)
    if not options["resource"]:
        request = attributes(options["verb"] or "get", path, query, user, groups)
        return Asked(f"{(options['verb'] or 'get').upper()} {path}", request, query, notes)
    if path:
        raise click.UsageError("--path is for what --resource is not")
    if not options["verb"]:
        raise click.UsageError("--resource needs --verb, such as list")
    name, _, group = options["resource"].partition(".")
    resource, _, subresource = name.partition("/")
    request = Attributes(
        user,
        groups,
        options["verb"].lower(),
        "",
        resource_request=True,
        api_group=options["api_group"] or group,
        namespace=options["namespace"] or "",
        resource=resource,
        subresource=subresource,
        name=options["object_name"] or "",
    )
    return Asked(f"{request.verb} {options['resource']}", request, query, notes)


def _policy(path: Path | None, options: Mapping[str, Any], at: Servers | None) -> Source:
    """The policy that is in force: files, else a cluster's, else what the release brings."""
    paths = (*((path,) if path is not None else ()), *options["objects"])
    if at is None or paths:
        return from_files(paths)
    samples = run(at.accesses, [Turn((Endpoint.METRICS, *OBJECTS))], manner_of_looks())
    complain(at.notes)
    return from_samples(samples, frame(taken_in(samples).state))


def _setting(source: Source, options: Mapping[str, Any]) -> Setting:
    release: Release = target_of(options["target"]) or source.release or LATEST
    own, built = objects_of(source.documents), as_built(release)
    objects = Objects(own.schemas or built.schemas, own.levels or built.levels)
    seats = options["seats"] or source.concurrency or SEATS
    nominal = limits(dealable(objects.levels.values()), seats, release)
    return Setting(
        Classifier(objects.schemas.values(), objects.levels.values()),
        release,
        {name: one.nominal for name, one in nominal.items()},
        options["request_timeout"] or 60.0,
        options["stored"],
        options["bytes_each"],
        options["watchers"],
    )


def _names(source: Source) -> dict[str, str]:
    """Names of objects by their uids."""
    return {_uid(document.fields): document.name for document in source.documents}


def _uid(fields: Mapping[object, object]) -> str:
    metadata = fields.get("metadata")
    return str(metadata.get("uid") or "") if isinstance(metadata, Mapping) else ""


def _differs(one: Classified, said: Said | None) -> bool:
    return said is not None and (said.schema, said.level) != (one.schema, one.level)


def _show(found: list[Classified], heard: Mapping[str, Said | None], options: Mapping[str, Any]) -> None:
    if options["output"] == "json":
        requests = [{**document(one), "probed": _probe_json(heard.get(one.asked.name))} for one in found]
        write(json_text(json.dumps({"classify": told(found), "requests": requests}, ensure_ascii=False, indent=2)))
        return
    for one in found:
        write("\n".join((*lines(one, options["expect"] or ""), *_probe_text(one, heard))) + "\n")


def _probe_json(said: Said | None) -> dict[str, Any] | None:
    return None if said is None else {"status": said.status, "flow_schema": said.schema, "priority_level": said.level}


def _probe_text(one: Classified, heard: Mapping[str, Said | None]) -> list[str]:
    if one.asked.name not in heard:
        return []
    said = heard[one.asked.name]
    if said is None:
        return ["  not probed: no harmless GET is classified as this is"]
    agrees = "the same" if not _differs(one, said) else "NOT what the model says"
    return [f"  the server says: {plain(said.schema)} -> {plain(said.level)} (status {said.status}), {agrees}"]
