"""What was seen as tables and series for other tools."""
