"""The model of API Priority and Fairness: pure, without I/O, imports nothing else of apftop."""
