"""A stand-in for the contest's package, written from its interface for the tests: what a player may ask, and no window."""
