r"""Places as VS Code writes them: Uri objects and strings, to URIs and to the words shown for them.

A Uri object is put together from scheme, authority, path, query and fragment alone: ``fsPath`` and ``external`` are caches, and
on a Windows client they are wrong for remote files. A ``file`` URI of a local file becomes its path where a path is asked for:
with its slash on POSIX, as ``c:\x`` or ``\\server\x`` on Windows.
"""

import re
from typing import Any, Final
from urllib.parse import quote, unquote

from convparse.ledger import escape
from convparse.sources.copilot.fields import URI
from convparse.sources.copilot.state import Reader

_DRIVE: Final = re.compile(r"/[A-Za-z]:(?=/|$)")
_PATH: Final = "/:@!$&'()*+,;=-._~"
_PARTS: Final = ("authority", "path", "query", "fragment")


def is_uri(value: Any) -> bool:
    """True for a Uri object, or for a string that is one."""
    if type(value) is dict:
        return type(value.get("scheme")) is str and all(type(value.get(key, "")) is str for key in _PARTS)
    return type(value) is str and "://" in value


def uri_text(value: Any) -> str:
    """The URI of a value that ``is_uri``."""
    if type(value) is str:
        return value
    authority, path, query, fragment = (value.get(key, "") for key in _PARTS)
    text = f"{value['scheme']}:"
    if authority or value["scheme"] == "file":
        text += f"//{quote(authority, safe=_PATH)}"
    text += quote(path, safe=_PATH)
    text += f"?{query}" if query else ""
    return f"{text}#{fragment}" if fragment else text


def path_of(uri: str) -> str:
    """The path of a local file, as its system writes it; any other URI decoded and whole."""
    scheme, colon, rest = uri.partition(":")
    if scheme != "file" or not colon:
        return unquote(uri) if colon and "://" in uri else uri
    authority, path = "", rest
    if rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        path = slash + path
    authority, path = unquote(authority), unquote(path)
    if authority:
        return f"//{authority}{path}".replace("/", "\\")
    return path[1:].replace("/", "\\") if _DRIVE.match(path) else path


def file_name(uri: str) -> str:
    """The last part of a URI's path, decoded."""
    path = path_of(uri).partition("?")[0].rstrip("/\\")
    return path.replace("\\", "/").rpartition("/")[2]


def read_uri(reader: Reader, value: Any, at: str, pattern: str | None = None) -> str | None:
    """The URI that stands at a pointer; None, and nothing named, where none does."""
    if not is_uri(value):
        return None
    if type(value) is dict:
        reader.keep(URI, value, at, pattern)
    return uri_text(value)


def read_place(reader: Reader, value: Any, at: str) -> str | None:
    """The URI of a Uri or of a ``{uri, range}``, whose range and whatever else it says is kept."""
    if type(value) is dict and "uri" in value and "scheme" not in value:
        uri = read_uri(reader, value["uri"], f"{at}/uri")
        if uri is not None:
            reader.extra.update({f"{at}/{escape(key)}": item for key, item in value.items() if key != "uri"})
        return uri
    return read_uri(reader, value, at)
