"""What the simulated servers are: their release, build and feature gates."""

from __future__ import annotations

from apftop.apf.release import Release

RELEASE = Release(1, 37, 2)
BUILD = (
    ("build_date", "2026-09-15T09:31:06Z"),
    ("compiler", "gc"),
    ("git_commit", "5b7e3f0c6a9d4e1f8b2a7c5d0e9f1a3b6c8d2e4f"),
    ("git_tree_state", "clean"),
    ("git_version", f"v{RELEASE}"),
    ("go_version", "go1.26.8"),
    ("major", str(RELEASE.major)),
    ("minor", str(RELEASE.minor)),
    ("platform", "linux/amd64"),
)
FEATURES = {
    ("APIServerWebhookAuthenticationToken", "ALPHA"): 0,
    ("CoordinatedLeaderElection", "BETA"): 0,
    ("ConsistentListFromCacheSkipTimeoutFallback", "ALPHA"): 0,
    ("ConstrainedImpersonation", "BETA"): 1,
    ("DeclarativeValidation", ""): 1,
    ("DetectCacheInconsistency", "BETA"): 1,
    ("ListFromCacheSnapshot", "BETA"): 1,
    ("SeparateCacheWatchRPC", "DEPRECATED"): 1,
    ("SizeBasedListCostEstimate", "BETA"): 1,
    ("WatchList", "BETA"): 1,
}
"""Gates by name and stage, as `kubernetes_feature_enabled` tells them."""
