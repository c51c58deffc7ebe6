"""What was attached to a request: ``variableData.variables``, to blocks.

A file or folder is a URI, a picture or paste is its content; what else an attachment says goes to ``extra``. Instructions that
the editor adds by itself, and whatever it names as its own, are ``Injected`` where they have a text.
"""

from typing import Any

from convparse.blocks import Attachment, Block, Image, Injected
from convparse.sources.copilot.fields import VARIABLE
from convparse.sources.copilot.outputs import base64_of
from convparse.sources.copilot.state import Reader
from convparse.sources.copilot.uris import is_uri, read_place

_OWN = ("vscode.prompt.instructions", "vscode.instructions")


def read_variables(reader: Reader, variables: list[Any], base: str = "/variableData/variables") -> list[Block]:
    """A block for every attachment, in their order; ``base``: where their list stands."""
    blocks: list[Block] = []
    for i, value in enumerate(variables):
        at = f"{base}/{i}"
        block = _read(reader, value, at) if type(value) is dict else None
        if block is not None:
            blocks.append(block)
        elif value is not None:
            reader.odd(value, at, "variable")
    return blocks


def _read(reader: Reader, variable: dict[str, Any], at: str) -> Block | None:
    kind, name, value = (variable.get(key) for key in ("kind", "name", "value"))
    if not all(word is None or type(word) is str for word in (kind, name)):
        return None
    reader.keep(VARIABLE, variable, at)
    word = kind if kind is not None else "variable"
    if type(value) is str and not (is_uri(value) and kind in ("file", "directory")):
        if variable.get("automaticallyAdded") is True or _is_own(variable):
            if name is not None:
                reader.extra[f"{at}/name"] = name
            return Injected(word, value)
        return Attachment(word, name, None, value)
    data = base64_of(value) if type(value) is dict else None
    if data is not None:
        media_type = variable.get("mimeType")
        media_type = media_type if type(media_type) is str else None
        if kind == "image":
            if name is not None:
                reader.extra[f"{at}/name"] = name
            return Image(media_type, data)
        return Attachment(word, name, media_type, None, data)
    uri = read_place(reader, value, f"{at}/value")
    if uri is None and value is not None:
        reader.extra[f"{at}/value"] = value
    return Attachment(word, name, None, None, None, uri)


def _is_own(variable: dict[str, Any]) -> bool:
    id = variable.get("id")
    return type(id) is str and id.startswith(_OWN)
