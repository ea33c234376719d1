"""The screen, in Textual: it draws sheets, sends what the reader wants, and derives nothing."""
