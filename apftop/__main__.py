"""`python -m apftop`."""

from apftop.cli import main

main()
