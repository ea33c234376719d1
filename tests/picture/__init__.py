"""The picture of the screen in the README, drawn from the demo at fixed instants of its own clock."""
