"""Containers: how values and their places come out of a file. Nothing here knows a product."""
