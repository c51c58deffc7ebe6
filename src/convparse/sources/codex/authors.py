"""Who wrote the text of a user message.

Best evidence first: the kinds that the product wrote beside the content (since 0.150), the second record that only what a
person sent has, and last the beginnings of the texts that the product puts in. A text is never taken for the product's because
it starts with ``<``: people type tags too.
"""

import re
from typing import Any, Final

from convparse.blocks import Block, Image, Injected, Text
from convparse.sources._reading import make_injected, make_text

_TAGS: Final = {
    "turn_aborted": "interrupted",
    **{
        name: name
        for name in (
            "codex_delegation codex_internal_context collaboration_mode environment_context extension_context external_context"
            " goal_context hook_prompt INSTRUCTIONS multi_agent_mode permissions personality_spec realtime_conversation"
            " realtime_delegation recommended_plugins skill skills_instructions subagent_notification user_action"
            " user_instructions user_shell_command app-context apps_instructions plugins_instructions model_switch"
        ).split()
    },
}
"""Tags around texts that the product puts in, and what they are called here."""
_OPEN: Final = re.compile(r"\s*<([A-Za-z_-]+)[^<>]*>")
_STARTS: Final = (
    ("# AGENTS.md instructions", "agents_md"),
    ("Warning: apply_patch was requested via", "warning"),
    ("Warning: The maximum number of unified exec processes", "warning"),
    ("Warning: Your account was flagged", "warning"),
    ("Another language model started to solve this problem", "compaction_summary"),
)
_IDE: Final = ("# Context from my IDE setup:", "# Files mentioned by the user", "# Files mentioned")
_REQUEST: Final = "## My request for Codex:"
_MARKER: Final = re.compile(r"\s*(?:<image(?: [^<>]*)?>|</image>)\s*")
_HUMAN: Final = frozenset({"user.text", "user.image", "user.audio"})


def injected_kind(text: str) -> str | None:
    """What a text of the product's own is called; None if it is not known for one."""
    for start, kind in _STARTS:
        if text.startswith(start):
            return kind
    found = _OPEN.match(text)
    if found is None or found[1] not in _TAGS:
        return None
    return _TAGS[found[1]] if text.rstrip().endswith(f"</{found[1]}>") or found[1] == "permissions" else None


def is_marker(text: str) -> bool:
    """True for what is written around an attached picture."""
    return _MARKER.fullmatch(text) is not None


def markers(blocks: tuple[Block, ...]) -> frozenset[int]:
    """The places of the texts that only mark a picture beside them."""
    pictures = {i for i, block in enumerate(blocks) if type(block) is Image}
    near = {i + step for i in pictures for step in (-1, 1)}
    return frozenset(i for i, b in enumerate(blocks) if i in near and type(b) is Text and is_marker(b.text))


def typed_text(blocks: tuple[Block, ...]) -> str:
    """The texts as the second record of a prompt has them: one behind the other, without those that mark pictures."""
    left_out = markers(blocks)
    return "".join(b.text for i, b in enumerate(blocks) if type(b) is Text and i not in left_out)


def by_kinds(blocks: tuple[Block, ...], kinds: Any) -> tuple[bool, tuple[Block, ...]] | None:
    """Whether a person wrote any of it, and the blocks told apart, by the kinds beside the content; None if there are none."""
    if type(kinds) is not list or len(kinds) != len(blocks) or not any(type(kind) is str for kind in kinds):
        return None
    human = any(kind in _HUMAN for kind in kinds if type(kind) is str)
    left_out = markers(blocks)
    told: list[Block] = []
    for i, (block, kind) in enumerate(zip(blocks, kinds, strict=True)):
        if type(block) is not Text:
            told.append(block)
        elif i in left_out:
            told.append(make_injected("image", block.text))
        elif type(kind) is str and kind in _HUMAN:
            told.extend(split_request(block.text))
        else:
            told.append(make_injected(injected_kind(block.text) or _word(kind), block.text))
    return human, tuple(told)


def _word(kind: Any) -> str:
    return kind if type(kind) is str else "context"


def as_typed(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """The blocks of what a person sent, with what the product put beside it told apart."""
    left_out = markers(blocks)
    told: list[Block] = []
    for i, block in enumerate(blocks):
        if type(block) is not Text:
            told.append(block)
        elif i in left_out:
            told.append(make_injected("image", block.text))
        elif (kind := injected_kind(block.text)) is not None and len(blocks) > 1:
            told.append(make_injected(kind, block.text))
        else:
            told.extend(split_request(block.text))
    return tuple(told)


def as_injected(blocks: tuple[Block, ...], word: str) -> tuple[Block, ...]:
    """The blocks of what the product put in."""
    return tuple(
        make_injected(injected_kind(block.text) or word, block.text) if type(block) is Text else block for block in blocks
    )


def split_request(text: str) -> tuple[Text | Injected, ...]:
    """A prompt behind the editor's context, from the last mark of the request; all of it where there is no such context."""
    at = text.rfind(_REQUEST) if text.startswith(_IDE) else -1
    if at < 0:
        return (make_text(text),)
    end = at + len(_REQUEST)
    if text[end : end + 1] == "\n":
        end += 1
    context = make_injected("ide_context", text[:end])
    return (context, make_text(text[end:])) if end < len(text) else (context,)
