"""A result as JSON and back, without loss.

What comes in: a ``ParseResult``. What goes out: one JSON object in UTF-8, and from it an equal result, snapshot and stamps
included. ``schema`` describes the object to programs in other languages.

The form, by its number ``FORM``: a record is an object of its fields; a field that has its default is left out. A block or an
entry says what it is in ``type``, ``Json`` is ``{"json": text}`` with the text verbatim, a time is ISO 8601 with its offset.
Every change of the form is a new number, and forms of all lower numbers are read.

Never done here: no value is coerced, no unknown field passed over, and nothing of cattrs is changed but the one converter that
is made here, when it is first used.
"""

import json
import math
import types
from collections.abc import Callable
from datetime import datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final, Literal, TypeVar, Union, get_args, get_origin

import attrs
import orjson
from cattrs import BaseValidationError, Converter, transform_error
from cattrs.cols import list_structure_factory

from convparse._json import decode
from convparse.blocks import Block, Json, Part
from convparse.errors import ConvparseError
from convparse.records import Entry
from convparse.result import ParseResult
from convparse.tables import tag_of

FORM: Final = 1
"""The number of the form that ``to_json`` writes."""
TAG: Final = "type"
SHOWN: Final = 5
"""How many of the errors of a document are told."""
UNIONS: Final = (Block, Part, Entry)
"""The unions whose members say in ``TAG`` what they are."""

T = TypeVar("T")


def to_json(result: ParseResult) -> bytes:
    """The whole result as one JSON object in UTF-8, which ``from_json`` reads back: ``path.write_bytes(to_json(result))``.

    Beside the fields of the result it has ``convparse``, the number of the form, and ``version``, which version wrote it.
    """
    if not isinstance(result, ParseResult):
        raise ConvparseError(f"to_json takes a ParseResult, not {type(result).__name__}")
    return _encode({"convparse": FORM, "version": _version(), **_converter().unstructure(result)})


def from_json(data: bytes | str) -> ParseResult:
    """The result that ``to_json`` wrote, equal to it in every field.

    Forms of all earlier numbers are read. Raises ``ConvparseError`` for a form with a higher number, for a field that the form
    does not have, a value of another type, and whatever is not a result at all.
    """
    if not isinstance(data, bytes | bytearray | memoryview | str):
        raise ConvparseError(f"from_json takes bytes or str, not {type(data).__name__}; to_json makes them of a result")
    value = _decode(data)
    form = value.pop("convparse", None) if isinstance(value, dict) else None
    if type(form) is not int or form < 1:
        raise ConvparseError("this is not the JSON form of a result: there is no number under `convparse`")
    written = value.pop("version", None)
    if form > FORM:
        raise ConvparseError(f"form {form}, written by convparse {written}: this version reads forms up to {FORM}; update it")
    try:
        return _converter().structure(value, ParseResult)
    except BaseValidationError as error:
        told = transform_error(error, format_exception=_told)
        more = f"; and {len(told) - SHOWN} more" if len(told) > SHOWN else ""
        raise ConvparseError(f"not a result of form {form}: {'; '.join(told[:SHOWN])}{more}") from error


def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of what ``to_json`` writes, made anew at every call."""
    found: dict[str, Any] = {}
    result = _schema_of_record(ParseResult, found)
    own = {"convparse": {"const": FORM}, "version": {"type": "string"}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "convparse result",
        **result,
        "properties": {**own, **result["properties"]},
        "required": [*own, *result["required"]],
        "$defs": dict(sorted(found.items())),
    }


# ---- text ------------------------------------------------------------------------------------------------------------------


def _version() -> str:
    try:
        return version("convparse")
    except PackageNotFoundError:  # run from its source, not installed
        return "unknown"


def _encode(value: Any) -> bytes:
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:  # an integer over 64 bits, or a path that is not UTF-8: `\udc80` and the like say which
        return json.dumps(value, separators=(",", ":")).encode()


def _decode(data: bytes | str) -> Any:
    try:
        return decode(data.encode() if isinstance(data, str) else bytes(data))
    except (ValueError, TypeError, RecursionError) as error:
        raise ConvparseError(f"this is not the JSON form of a result: {error}") from error


def _told(error: BaseException, expected: Any) -> str:
    if isinstance(error, KeyError):
        return f"required field {error} missing"
    return str(error)


# ---- values ----------------------------------------------------------------------------------------------------------------


@cache
def _converter() -> Converter:
    converter = Converter(omit_if_default=True, forbid_extra_keys=True)
    for cls, kinds in {str: (str,), bool: (bool,), int: (int,), float: (float, int)}.items():
        converter.register_structure_hook(cls, _exactly(*kinds))
    converter.register_unstructure_hook(float, _finite)
    converter.register_unstructure_hook(datetime, datetime.isoformat)
    converter.register_structure_hook(datetime, _to_time)
    converter.register_unstructure_hook(Json, _from_json_text)
    converter.register_structure_hook(Json, _to_json_text)
    converter.register_structure_hook(Json | str, _to_json_or_str)
    converter.register_structure_hook_factory(_is_tuple, _tuple_hook)
    for union in UNIONS:
        _tag(converter, union)
    return converter


def _exactly(*kinds: type) -> Callable[[Any, Any], Any]:
    def check(value: Any, _: Any) -> Any:
        if type(value) not in kinds:
            raise TypeError(f"{_shown(value)} is not {kinds[0].__name__}")
        return value

    return check


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}…"


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise ConvparseError(f"{value} has no JSON form; no parser makes such a record")
    return value


def _to_time(value: Any, _: Any) -> datetime:
    return datetime.fromisoformat(_exactly(str)(value, str))


def _from_json_text(value: Json) -> dict[str, str]:
    return {"json": value.utf8.decode("utf-8", "surrogateescape")}


def _to_json_text(value: Any, _: Any) -> Json:
    if type(value) is not dict or list(value) != ["json"] or type(value["json"]) is not str:
        raise TypeError(f'{_shown(value)} is not {{"json": text}}')
    return Json(value["json"].encode("utf-8", "surrogateescape"))


def _to_json_or_str(value: Any, _: Any) -> Json | str:
    return value if isinstance(value, str) else _to_json_text(value, Json)


def _is_tuple(annotation: Any) -> bool:
    return get_origin(annotation) is tuple


def _tuple_hook(annotation: Any, converter: Converter) -> Callable[[Any, Any], Any]:
    to_list = list_structure_factory(annotation, converter)

    def hook(value: Any, _: Any) -> Any:
        return tuple(to_list(_exactly(list)(value, list), annotation))

    return hook


def _tag(converter: Converter, union: Any) -> None:
    """The members of a union, told apart by ``TAG``."""
    classes = {tag_of(cls): cls for cls in get_args(union)}

    def to_record(value: Any, _: Any) -> Any:
        rest = dict(_exactly(dict)(value, dict))
        kind = rest.pop(TAG, None)
        if type(kind) is not str or kind not in classes:
            raise ValueError(f"{_shown(kind)} is none of the types {', '.join(classes)}")
        return converter.structure(rest, classes[kind])

    def from_record(value: Any) -> dict[str, Any]:
        return {TAG: tag_of(type(value)), **converter.unstructure(value)}

    converter.register_structure_hook(union, to_record)
    converter.register_unstructure_hook(union, from_record)


# ---- the schema ------------------------------------------------------------------------------------------------------------

_PLAIN: Final[dict[Any, dict[str, Any]]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    types.NoneType: {"type": "null"},
    datetime: {"type": "string", "format": "date-time"},
}


def _schema_of(annotation: Any, found: dict[str, Any]) -> dict[str, Any]:
    if annotation in _PLAIN:
        return dict(_PLAIN[annotation])
    if annotation is Json:
        found["Json"] = _JSON
        return {"$ref": "#/$defs/Json"}
    if attrs.has(annotation):
        if annotation.__name__ not in found:
            found[annotation.__name__] = {}
            found[annotation.__name__] = _schema_of_record(annotation, found)
        return {"$ref": f"#/$defs/{annotation.__name__}"}
    args = get_args(annotation)
    if get_origin(annotation) is Literal:
        return {"enum": list(args)}
    if get_origin(annotation) is tuple:
        return {"type": "array", "items": _schema_of(args[0], found)}
    assert get_origin(annotation) in (Union, types.UnionType)
    return {"anyOf": [_schema_of(arg, found) for arg in args]}


_JSON: Final = {
    "description": "JSON that is not modelled, held as its text.",
    "type": "object",
    "properties": {"json": {"type": "string", "contentMediaType": "application/json"}},
    "required": ["json"],
    "additionalProperties": False,
}
_TAGGED: Final = frozenset(cls for union in UNIONS for cls in get_args(union))


def _schema_of_record(cls: Any, found: dict[str, Any]) -> dict[str, Any]:
    fields = attrs.fields(cls)
    properties = {field.name: _schema_of(field.type, found) for field in fields}
    required = [field.name for field in fields if field.default is attrs.NOTHING]
    if cls in _TAGGED:
        properties, required = {TAG: {"const": tag_of(cls)}, **properties}, [TAG, *required]
    for field in fields:
        if field.default is not attrs.NOTHING:
            properties[field.name]["default"] = _converter().unstructure(field.default)
    return {
        "description": " ".join((cls.__doc__ or "").split()),
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }
