"""Changes to the policy and to rights, as commands with their rollback."""
