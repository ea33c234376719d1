"""Groups that every server adds."""

from __future__ import annotations

from apftop.apf.identity import account_of, added_groups


def test_a_service_account_is_in_the_groups_of_its_kind() -> None:
    groups = ("system:serviceaccounts", "system:serviceaccounts:a", "system:authenticated")

    assert added_groups("system:serviceaccount:a:b") == groups
    assert added_groups("system:serviceaccount:a:b", groups) == groups


def test_whoever_is_known_is_authenticated() -> None:
    assert added_groups("dev", ("team",)) == ("team", "system:authenticated")
    assert added_groups("system:anonymous") == ("system:unauthenticated",)


def test_a_name_that_only_looks_like_a_service_account_is_none() -> None:
    assert account_of("system:serviceaccount:a") is None
    assert account_of("system:serviceaccount:a:b:c") is None
    assert account_of("system:serviceaccount:a:b") == ("a", "b")
