"""Other forms of results, each in a module that is imported only when it is used. ``arrow`` needs an extra of its own."""

from convparse.export._account import Export, Omission, Where

__all__ = ["Export", "Omission", "Where"]
