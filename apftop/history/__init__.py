"""What was before this program began, as a store has kept it, in the shape of tapes: to report on and to go through."""
