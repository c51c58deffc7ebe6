"""Measurements of the library, run by hand from the root of the repository."""
