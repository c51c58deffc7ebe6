"""What only this source says of what it could not carry over."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from convparse.drops import Code

CODES: Final[Mapping[str, Code]] = MappingProxyType(
    {
        "cursor/missing-bubble": Code("lost", "a bubble that the conversation lists and no row holds"),
        "cursor/tool-stub": Code("lost", "a tool use of which nothing but a status was recorded"),
        "cursor/image-stripped": Code("lost", "an image whose bytes the product does not keep"),
        "cursor/missing-content": Code("lost", "the content of an edited file, which was cleaned up"),
        "cursor/missing-blob": Code("lost", "a blob that the conversation refers to and the store does not hold"),
        "cursor/unreachable-blobs": Code("lost", "blobs that the current state of the conversation does not refer to, counted"),
        "cursor/oversize-blob": Code("lost", "a message over 5 MB, in whose place the product wrote a note"),
        "cursor/blob-hash": Code("altered", "a blob whose name is not the hash of its bytes"),
        "cursor/lost-order": Code("altered", "the list of bubbles is empty; they stand in the order of their row ids"),
        "cursor/duplicate-header": Code("altered", "a bubble that the conversation lists twice; it stands at the first place"),
        "cursor/key-id-mismatch": Code("altered", "an id inside a value that is not that of its key; the key counts"),
        "cursor/rich-text": Code("altered", "a text that is in the rich form alone; its words are the text"),
        "cursor/unknown-bubble": Code("unknown", "a bubble that is neither a person's nor the model's"),
        "cursor/undecodable-blob": Code(
            "unknown", "a blob that is neither JSON nor a message; it may be encrypted; kept as hex"
        ),
        "cursor/unknown-proto": Code("unknown", "a field of a protobuf message that is not known; its bytes are kept"),
        "cursor/backup": Code("skipped", "a copy of the database that the product keeps; it can be parsed by its own path"),
    }
)
