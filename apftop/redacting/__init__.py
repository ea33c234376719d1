"""Names in what servers said, replaced by pseudonyms, so that all that is counted, timed and related stays true."""
