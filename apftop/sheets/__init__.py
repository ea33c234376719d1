"""What the screen shows, as text and marks, without a terminal: columns are data, a view is a function."""
