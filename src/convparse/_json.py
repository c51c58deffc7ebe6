"""The one place that encodes and decodes JSON outside the reading of containers.

``orjson`` first, the standard library for what it refuses: integers over 64 bits and more than 254 levels.
"""

import json
from typing import Any

import orjson


def encode(value: Any) -> str:
    """``value`` as compact JSON text, keys in their order, nothing escaped that need not be."""
    try:
        return orjson.dumps(value).decode()
    except orjson.JSONEncodeError:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def decode(text: str) -> Any:
    """The value of JSON text made by ``encode``; integers of any size come back whole."""
    try:
        value = orjson.loads(text)
        if orjson.dumps(value) == text.encode():
            return value
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        pass
    return json.loads(text)
