"""Frozen records at the price of mutable ones.

What comes in: an ``attrs.frozen`` slotted class. What goes out: a constructor of the same signature for parser-made values.
``attrs`` fills a frozen instance through ``object.__setattr__``, field by field; a mutable twin of the same layout is filled by
plain stores and then becomes the frozen class, which is two to three times cheaper and indistinguishable afterwards.

``maker(cls)`` freezes at once. ``opener(cls)`` leaves the record open, so that a later step can still settle fields;
``close(record, cls)`` freezes it. Never hand out an open record.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import attrs

T = TypeVar("T")


def _twin(cls: type[T], body: dict[str, Any]) -> type[T]:
    fields = {a.name: attrs.field(default=a.default) for a in attrs.fields(cast("Any", cls))}
    init = cast("Any", attrs.make_class(cls.__name__, fields, class_body=body)).__init__
    # Both slots must be given back: with one of them left in Python, CPython takes the slow path for both.
    plain = {"__slots__": (), "__init__": init, "__setattr__": object.__setattr__, "__delattr__": object.__delattr__}
    return cast("type[T]", type(cls.__name__, (cls,), plain | body | {"__module__": cls.__module__}))


def maker(cls: type[T]) -> type[T]:
    """A constructor like ``cls`` whose result is a frozen ``cls``, built cheaply."""

    def freeze(self: Any) -> None:
        self.__class__ = cls

    return _twin(cls, {"__attrs_post_init__": freeze})


def opener(cls: type[Any]) -> Callable[..., Any]:
    """A constructor like ``cls`` whose result can be assigned to until ``close``; no type checker could follow it."""
    return _twin(cls, {})


def close(record: Any, cls: type[T]) -> T:
    """Freeze a record made by ``opener(cls)``; one that is frozen already stays as it is."""
    if type(record) is not cls:
        record.__class__ = cls
    return cast("T", record)
