"""What a model read or said as plain words, for formats that hold text and little else.

What comes in: blocks and parts of results that are being read. What goes out: their texts, which are taken with that.

Never done here: no text is cut, trimmed or made.
"""

from collections.abc import Iterable

from convparse.blocks import Answer, Attachment, Image, Injected, Reference, Text
from convparse.export._account import JOINED, Given


def has_text(block: Given) -> bool:
    """True for what reads as words: text, whoever put it there, answers, references, and documents whose text is recorded."""
    return type(block.record) in (Text, Injected, Answer, Reference) or (
        type(block.record) is Attachment and block.record.text is not None
    )


def texts(block: Given) -> list[str]:
    """The words of a block; of an answer the question, if it is recorded, and the answer."""
    question = [block.take("question")] if type(block.record) is Answer and block.record.question else []
    return [*question, block.take("text")]


def joined(blocks: Iterable[Given]) -> str:
    """The words of all blocks as one text, one below the other; what is put behind another is named."""
    found: list[str] = []
    for block in blocks:
        words = texts(block)
        if found or len(words) > 1:
            block.name(JOINED, "text")
        found += words
    return "\n".join(found)


def data_uri(block: Given) -> str | None:
    """The data of a picture or document as an address, if data and media type are recorded."""
    if block.record.data is None or block.record.media_type is None:
        return None
    data, media_type = block.take("data"), block.take("media_type")
    return f"data:{media_type};base64,{data}"


def address(image: Given) -> str | None:
    """Where a picture is to be had: its data as an address, else the place it was said to be at."""
    assert type(image.record) is Image
    return data_uri(image) or (None if image.record.uri is None else str(image.take("uri")))
