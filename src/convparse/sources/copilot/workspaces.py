"""The folder that a session belongs to, from the ``workspace.json`` of its storage folder.

``folder`` is the URI of a folder, ``workspace`` of a ``.code-workspace`` file. A local folder becomes its path; a remote one
stays a URI, decoded, so that its host can be read.
"""

from typing import Any

from convparse.sources.copilot.uris import path_of


def folder_of(value: Any) -> str | None:
    """The folder, or workspace file, that the value of a ``workspace.json`` names."""
    uri = value.get("folder", value.get("workspace")) if type(value) is dict else None
    return path_of(uri) if type(uri) is str else None
