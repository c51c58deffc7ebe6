"""The one place that encodes and decodes JSON outside the reading of containers.

``orjson`` first, the standard library for what it refuses: integers over 64 bits and more than 254 levels.
"""

import json
from typing import Any

import orjson


def encode(value: Any) -> bytes:
    """``value`` as compact JSON text in UTF-8, keys in their order, nothing escaped that need not be."""
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8", "replace")


def decode(data: bytes) -> Any:
    """The value of JSON text; integers of any size come back whole."""
    try:
        value = orjson.loads(data)
        if orjson.dumps(value) == data:
            return value
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        pass
    return json.loads(data)


def decode_shallow(data: bytes | str) -> Any:
    """The value of JSON text that can be written again; raises ``ValueError`` for other text, and for more than 254 levels."""
    value = orjson.loads(data)
    try:
        orjson.dumps(value)
    except orjson.JSONEncodeError:
        raise ValueError("nested too deeply") from None
    return value
