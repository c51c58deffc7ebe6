"""Parts of a response, to blocks, in the order in which they were shown.

What comes in: the list under ``response`` and the reader of its request. What goes out: runs of blocks, with a ``Slot`` where a
tool call stands, for ``tools`` to fill. Text and the references inside its sentences are joined as on screen, into one ``Text``
with a ``Reference`` behind it for each; the fences that the editor leaves around an edit are not part of it. Parts that are not
known become ``Unknown`` and are named.
"""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import attrs

from convparse.blocks import Answer, Block, Edit, Injected, Reference, Text, Unknown
from convparse.ledger import escape
from convparse.sources._reading import json_of, make_text, make_thinking
from convparse.sources.copilot.fields import MARKDOWN, PARTS, RAW_PARTS
from convparse.sources.copilot.state import Reader
from convparse.sources.copilot.uris import file_name, path_of, read_place, read_uri


@attrs.frozen(eq=False)
class Slot:
    """A tool invocation in its place among the blocks."""

    part: dict[str, Any]
    index: int
    at: str


Item: TypeAlias = Block | Slot
_FENCES: Final = re.compile(r"(?:\n`{3,}\n)+")
_OPENED: Final = re.compile(r"(?:(?:^|\n)`{3,}\n)+$")
_FENCE: Final = re.compile(r"^`{3,}", re.MULTILINE)


class Run:
    """The blocks of one speaker in the making: the main conversation's, or a sub-agent's."""

    def __init__(self, reader: Reader) -> None:
        self.items: list[Item] = []
        self._reader = reader
        self._texts: list[str] = []
        self._references: list[Reference] = []
        self._edited = False

    def say(self, text: str, reference: Reference | None = None) -> None:
        """More of the current sentence."""
        if self._edited and reference is None:
            closed = _FENCES.match(text)
            if closed:
                self._drop_fence()
                text = text[closed.end() :]
            if not text:
                return
        self._edited = False
        self._texts.append(text)
        if reference is not None:
            self._references.append(reference)

    def add(self, *items: Item) -> None:
        """Something that stands apart from the text."""
        self.end()
        self._edited = False
        self.items.extend(items)

    def edit(self, *items: Item) -> None:
        """An edit: the fence that was opened for it is taken back."""
        text = "".join(self._texts)
        opened = _OPENED.search(text) if text.endswith("`\n") else None
        if opened and (len(_FENCE.findall(text)) % 2 or _FENCES.fullmatch(text)):
            self._drop_fence()
            self._texts = [text[: opened.start()]]
        self.end()
        self._edited = True
        self.items.extend(items)

    def _drop_fence(self) -> None:
        self._reader.note("skipped-field", "/response/0", "edit-fence")

    def end(self) -> None:
        """The end of a text."""
        text = "".join(self._texts)
        if text:
            self.items.append(make_text(text))
        self.items.extend(self._references)
        self._texts, self._references = [], []


MARK: Final = Injected("undo-stop", "")
"""Stands, this very one, where the undone end of a response begins; ``requests`` takes it out."""


def read_parts(reader: Reader, parts: list[Any], stop: str | None = None, first: int = 0) -> dict[str | None, list[Item]]:
    """The blocks of a response, by the call whose sub-agent they belong to; None is the conversation itself.

    ``stop``: the id of the mark behind which the response was undone. ``first``: the index of the first part.
    """
    runs: dict[str | None, Run] = {None: Run(reader)}
    for index, part in enumerate(parts, first):
        if part is None:
            continue  # an index beyond a list's end leaves empty places in a log
        reader.enter("response", index)
        agent = part.get("subAgentInvocationId") if type(part) is dict else None
        run = runs.setdefault(agent if type(agent) is str and agent else None, Run(reader))
        _read(reader, run, part, index)
        if stop is not None and type(part) is dict and part.get("kind") == "undoStop" and part.get("id") == stop:
            run.add(MARK)
    reader.enter()
    for run in runs.values():
        run.end()
    return {agent: run.items for agent, run in runs.items()}


def _read(reader: Reader, run: Run, part: Any, index: int) -> None:
    at = f"/response/{index}"
    if type(part) is str:
        run.say(part)
        return
    kind = part.get("kind") if type(part) is dict else None
    if type(part) is dict and "kind" not in part:
        if type(part.get("value")) is str:
            reader.keep(MARKDOWN, part, at)
            run.say(part["value"])
            return
        if "uri" in part and "label" in part:
            kind = "treeData"
    if kind == "toolInvocationSerialized":
        run.add(Slot(part, index, at))
    elif type(kind) is str and kind in RAW_PARTS:
        reader.extra[at] = part
        if kind == "codeblockUri" and part.get("isEdit") is True:
            run.edit()
    elif type(kind) is str and kind in _SKIPPED:
        _skip(reader, at, kind)
    elif type(kind) is str and kind in READERS and READERS[kind](reader, run, part, at):
        if kind != "thinking" or not _is_end(part):
            reader.keep(PARTS[kind], part, at)
    else:
        _unknown(reader, run, part, at)


_SKIPPED: Final = frozenset({"prepareToolInvocation", "undoStop"})


def _skip(reader: Reader, at: str, kind: str) -> None:
    reader.note("skipped-field", at, kind)


def _unknown(reader: Reader, run: Run, part: Any, at: str) -> None:
    kind = part.get("kind") if type(part) is dict else None
    name = kind if type(kind) is str else type(part).__name__
    reader.note("unexpected-type" if name in READERS else "unknown-block", at, name)
    run.add(Unknown(name, json_of(part)))


def _content(reader: Reader, part: dict[str, Any], key: str, at: str) -> str | None:
    """A text that is a string or a markdown object; None if it is neither."""
    value = part.get(key)
    if type(value) is dict and type(value.get("value")) is str:
        reader.keep(MARKDOWN, value, f"{at}/{key}")
        return str(value["value"])
    return value if type(value) is str else None


def _markdown(reader: Reader, run: Run, part: dict[str, Any], at: str) -> bool:
    text = _content(reader, part, "content", at)
    if text is not None:
        run.say(text)
    return text is not None


def _thinking(reader: Reader, run: Run, part: dict[str, Any], at: str) -> bool:
    value, id = part.get("value"), part.get("id")
    if type(value) is list and all(type(item) is str for item in value):
        value = "".join(value)
    if (value is not None and type(value) is not str) or (id is not None and type(id) is not str):
        return False
    if _is_end(part):
        _skip(reader, at, "reasoning-done")
        return True
    run.add(make_thinking(value or "", id or None, not value))
    return True


def _is_end(part: dict[str, Any]) -> bool:
    """True for the mark that a run of reasoning has ended."""
    about = part.get("metadata")
    done = type(about) is dict and about.get("vscodeReasoningDone") is True
    return not part.get("value") and (done or not part.get("id"))


def _inline_reference(reader: Reader, run: Run, part: dict[str, Any], at: str) -> bool:
    value, name = part.get("inlineReference"), part.get("name")
    at = f"{at}/inlineReference"
    if name is not None and type(name) is not str:
        return False
    if type(value) is dict and type(value.get("location")) is dict and type(value.get("name")) is str:
        uri = read_place(reader, value["location"], f"{at}/location")
        reader.extra.update({f"{at}/{escape(key)}": item for key, item in value.items() if key not in ("name", "location")})
        shown, kind = name or value["name"], "symbol"
        if name:
            reader.extra[f"{at}/name"] = value["name"]
    else:
        uri = read_place(reader, value, at)
        shown, kind = name or file_name(uri or ""), "file"
    if uri is None:
        return False
    run.say(shown, Reference(shown, uri, kind))
    return True


def _text_edit(reader: Reader, run: Run, part: dict[str, Any], at: str) -> bool:
    uri = read_uri(reader, part.get("uri"), f"{at}/uri")
    if uri is not None:
        run.edit(Edit(path_of(uri), "update"))
    return uri is not None


_EDITS: Final[Mapping[Any, str]] = MappingProxyType(
    {"create": "create", "delete": "delete", "rename": "move", "edit": "update"}
)


def _external_edit(reader: Reader, run: Run, part: dict[str, Any], at: str) -> bool:
    uri, kind, diff = read_uri(reader, part.get("uri"), f"{at}/uri"), part.get("editKind"), part.get("diff")
    if uri is None or type(kind) is not str or kind not in _EDITS:
        return False
    if diff is not None and type(diff) is not str:
        reader.extra[f"{at}/diff"] = diff
    run.edit(Edit(path_of(uri), _EDITS[kind], None, diff if type(diff) is str else None))
    return True


def _workspace_edit(reader: Reader, run: Run, part: dict[str, Any], at: str) -> bool:
    edits = part.get("edits")
    if type(edits) is not list:
        return False
    for i, edit in enumerate(edits):
        old, new = (
            read_uri(reader, edit.get(key) if type(edit) is dict else None, f"{at}/edits/{i}/{key}")
            for key in ("oldResource", "newResource")
        )
        if old is not None or new is not None:
            kind = "move" if old and new else "delete" if old else "create"
            run.edit(Edit(path_of(old or new or ""), kind, path_of(new) if old and new else None))
    return True


def _notice(reader: Reader, run: Run, part: dict[str, Any], at: str) -> bool:
    """A text of the editor's own among the answer."""
    text = _content(reader, part, "content", at)
    if text is not None:
        run.add(Injected(part["kind"], text))
    return text is not None


def _question(reader: Reader, run: Run, part: dict[str, Any], at: str) -> bool:
    """A question of the editor's: its title and its message."""
    texts = [_content(reader, part, key, at) for key in ("title", "message")]
    if None in [text for text, key in zip(texts, ("title", "message"), strict=True) if part.get(key) is not None]:
        return False
    run.add(Injected(part["kind"], "\n".join(text for text in texts if text)))
    given = part.get("acceptedResult")
    words = [word for item in (given.values() if type(given) is dict else [given]) if (word := _answer(item, {}))]
    if words:
        run.add(Answer(texts[0] or "", "; ".join(words)))
    return True


def _hook(reader: Reader, run: Run, part: dict[str, Any], at: str) -> bool:
    texts = [part.get(key) for key in ("stopReason", "systemMessage")]
    if any(text is not None and type(text) is not str for text in texts):
        return False
    run.add(Injected("hook", "\n".join(text for text in texts if type(text) is str and text)))
    return True


def _carousel(reader: Reader, run: Run, part: dict[str, Any], at: str) -> bool:
    """Questions of the model's, and what a person chose or wrote."""
    questions, answers = part.get("questions"), part.get("data")
    if type(questions) is not list:
        return False
    answers = answers if type(answers) is dict else {}
    for question in questions:
        if type(question) is not dict:
            continue
        asked = " ".join(_plain(question.get(key)) for key in ("title", "message") if _plain(question.get(key)))
        id = question.get("id")
        given = _answer(answers.get(id), question) if type(id) is str and id in answers else None
        if given is not None:
            run.add(Answer(asked, given))
        elif asked:
            run.add(Injected("question", asked))
    return True


def _plain(value: Any) -> str:
    if type(value) is dict:
        value = value.get("value")
    return value if type(value) is str else ""


def _answer(value: Any, question: dict[str, Any]) -> str | None:
    """What was answered, in the words that were shown."""
    if type(value) is dict:
        chosen = [value[key] for key in ("selectedValue", "selectedValues", "freeformValue", "freeform") if key in value]
        words = [word for item in chosen if (word := _answer(item, question))]
        return "; ".join(words) if words else None
    if type(value) is list:
        words = [word for item in value if (word := _answer(item, question))]
        return ", ".join(words) if words else None
    options = question.get("options")
    for option in options if type(options) is list else ():
        if type(option) is dict and value is not None and option.get("value", option.get("id")) == value:
            return _plain(option.get("label")) or (value if type(value) is str else None)
    if type(value) is bool or type(value) is int or type(value) is float:
        return str(value).lower()
    return value if type(value) is str else None


def _plan(reader: Reader, run: Run, part: dict[str, Any], at: str) -> bool:
    """A plan of the model's, and what the person said to it."""
    text, title = _content(reader, part, "content", at), _content(reader, part, "title", at)
    if text is None or (title is None and part.get("title") is not None):
        return False
    run.add(Text(text))
    answers = part.get("data")
    said = [answers.get(key) for key in ("action", "feedback")] if type(answers) is dict else []
    if any(type(word) is str and word for word in said):
        run.add(Answer(title or "", "\n".join(word for word in said if type(word) is str and word)))
    elif title:
        run.add(Injected("planReview", title))
    return True


READERS: Final[Mapping[str, Callable[[Reader, Run, dict[str, Any], str], bool]]] = MappingProxyType(
    {
        "markdownContent": _markdown,
        "markdownVuln": _markdown,
        "thinking": _thinking,
        "inlineReference": _inline_reference,
        "textEditGroup": _text_edit,
        "notebookEditGroup": _text_edit,
        "externalEdit": _external_edit,
        "workspaceEdit": _workspace_edit,
        "confirmation": _question,
        "elicitation": _question,
        "elicitationSerialized": _question,
        "questionCarousel": _carousel,
        "planReview": _plan,
        "hook": _hook,
        **dict.fromkeys(
            "warning info systemNotification progressMessage progressTask progressTaskSerialized progressTaskResult".split(),
            _notice,
        ),
    }
)
"""What reads each kind of part; false if the part is of an unexpected make."""
