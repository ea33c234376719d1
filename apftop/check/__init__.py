"""Is what a server says what APF would do: laws and identities, held against its numbers."""
