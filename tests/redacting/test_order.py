"""Pseudonyms: no two alike, the same for the same name, and in the order of the names."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apftop.apf.builtins import builtin_schema_names
from apftop.redacting import words
from apftop.redacting.order import between, renamed
from apftop.redacting.pseudonyms import AMONG, FAMILIES, Kind, Learning, staying

DNS = st.from_regex(r"[a-z0-9]([a-z0-9.-]{0,12}[a-z0-9])?", fullmatch=True)
ANY = st.text(st.characters(codec="utf-8"), max_size=12)
USERS = st.one_of(
    ANY,
    st.sampled_from(sorted(staying(Kind.USER))),
    ANY.map(lambda name: f"system:{name}"),
    st.tuples(DNS, DNS).map(lambda pair: f"system:serviceaccount:{pair[0]}:{pair[1]}"),
    DNS.map(lambda name: f"system:node:{name}"),
)


@given(st.sets(DNS), st.sampled_from(AMONG))
def test_names_stand_in_the_same_order_under_pseudonyms_and_among_those_that_stay(names: set[str], kind: Kind) -> None:
    learning = Learning()
    for name in names:
        learning(kind, name)
    table = learning.table()
    everything = sorted((names | staying(kind)) - {"", "*"})

    told = [table(kind, name) for name in everything]

    assert len(set(told)) == len(told)
    assert sorted(told, key=str.encode) == told


@given(st.sets(USERS))
def test_users_are_told_apart_as_before_and_keep_their_form(names: set[str]) -> None:
    learning = Learning()
    for name in names:
        words.user(name, learning)
    table = learning.table()

    told = {name: words.user(name, table) for name in names}

    assert len(set(told.values())) == len(told)
    for name, pseudonym in told.items():
        for front in ("system:", "system:node:", "system:serviceaccount:"):
            if len(name) > len(front):
                assert pseudonym.startswith(front) == name.startswith(front)
        assert pseudonym == name or name not in staying(Kind.USER)


@given(st.sets(ANY.filter(lambda name: name != "" and not name.startswith("system:"))))
def test_users_without_a_form_of_their_own_stand_in_order_with_those_that_stay(names: set[str]) -> None:
    learning = Learning()
    for name in names:
        words.user(name, learning)
    table = learning.table()
    everything = sorted((names | staying(Kind.USER)) - {"", "*"})

    told = [words.user(name, table) for name in everything]

    assert sorted(told) == told


def test_between_any_two_names_that_stay_there_is_room() -> None:
    for kind in AMONG:
        bounds = set(staying(kind)) - {"", "*"}
        for front in FAMILIES.get(kind, ()):
            bounds |= {front, f"{front[:-1]};"}
        for low, high in pairwise(sorted(bounds)):
            try:
                made = between(low, high)
            except ValueError:
                assert high.startswith(low), (low, high)
                continue
            assert low < made < high and not high.startswith(made)


def test_a_pseudonym_is_nobodys_name() -> None:
    learning = Learning()
    for name in ("user-1", "user-2", "zoe"):
        learning(Kind.USER, name)

    told = learning.table()

    assert {told(Kind.USER, name) for name in ("user-1", "user-2", "zoe")}.isdisjoint({"user-1", "user-2", "zoe"})


@pytest.mark.parametrize("name", sorted(builtin_schema_names()))
def test_a_schema_stands_before_and_after_a_built_in_one_as_it_did(name: str) -> None:
    names = {f"{name}-", f"{name}a", f"{name[:-1]}", "a", "zz"} - builtin_schema_names()

    made = renamed(names, "schema", builtin_schema_names())

    assert {one: one < name for one in names} == {one: made[one] < name for one in names}
