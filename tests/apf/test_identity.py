"""Groups that every server adds."""

from __future__ import annotations

from apftop.apf.identity import account_of, added_groups, groups_by_name, impersonated_groups


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


def test_whoever_is_impersonated_has_the_groups_that_were_asked_for_and_one_more() -> None:
    account = "system:serviceaccount:a:b"

    assert impersonated_groups("dev", ("team",)) == ("team", "system:authenticated")
    assert impersonated_groups("dev", ("system:unauthenticated",)) == ("system:unauthenticated",)
    assert impersonated_groups(account) == added_groups(account)
    assert impersonated_groups(account, ("team",)) == ("team", "system:authenticated")
    assert impersonated_groups("system:anonymous") == ("system:unauthenticated",)
    assert impersonated_groups("system:anonymous", ("system:authenticated",)) == (
        "system:authenticated",
        "system:unauthenticated",
    )


def test_groups_that_follow_from_a_name_are_of_real_accounts_and_nodes_only() -> None:
    assert groups_by_name("system:node:n1") == ("system:nodes", "system:authenticated")
    for odd in ("system:node:", "system:serviceaccount:a:b:c", "system:serviceaccount:A:b", "system:serviceaccount:a:"):
        assert groups_by_name(odd) == ("system:authenticated",)
