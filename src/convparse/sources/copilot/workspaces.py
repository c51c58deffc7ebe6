"""The folder that a session belongs to, from the ``workspace.json`` of its storage folder.

``folder`` is the URI of a folder, ``workspace`` of a ``.code-workspace`` file. A local folder becomes its path; a remote one
stays a URI, decoded, so that its host can be read.
"""

from typing import Any, Final

import orjson

from convparse.reading.decoding import deeper
from convparse.sources.copilot.uris import path_of

_DEPTH: Final = 200


def read_workspace(data: bytes) -> tuple[Any, str | None]:
    """The value of a ``workspace.json`` and the folder, or workspace file, it names."""
    try:
        value = orjson.loads(data)
    except ValueError:
        return None, None
    if deeper(value, _DEPTH):
        return None, None
    uri = value.get("folder", value.get("workspace")) if type(value) is dict else None
    return value, path_of(uri) if type(uri) is str else None
