"""``discover``: the sessions that there are on this machine, or below some folders.

What comes in: nothing, or folders. What goes out: a ``Found`` for every session and every database, and for whatever was passed
over, each with its reason. ``_places`` says where to look and ``gather`` of a source what belongs together; the directory itself
is listed, and no product's index is asked.

Directories are listed by an explicit stack, no deeper than ``DEPTH``. Links to directories are not followed, but for the
folders that a place begins with, for people move these; a directory or file that is reached twice counts once, by device and
inode. Of a file no more than its first bytes are read. Never done: nothing is written, no network is asked, nothing that holds
credentials is opened, no database is opened as one.
"""

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import attrs

from convparse import _stamps
from convparse._places import PLACES, Base, Place
from convparse.errors import ConvparseError
from convparse.reading.opening import open_regular
from convparse.sources import SOURCES

DEPTH: Final = 64
"""Levels of folders below a base."""
_HEAD: Final = 4_096
_MAGIC: Final[Mapping[str, bytes]] = {"database": b"SQLite format 3\0", "zstd": b"\x28\xb5\x2f\xfd"}


@attrs.frozen
class Found:
    """A session, a database, or something that was passed over."""

    source: str
    path: str
    """What to give to ``parse``: the main file of a session, or its folder where there is no main file."""
    conversation_ids: tuple[str, ...] = ()
    """What names tell of the conversations inside; empty for databases, histories and whatever else does not say."""
    stamp: str = ""
    """The ``stamp`` that the result of a parse has; empty where there is nothing to read."""
    problem: str | None = None
    """Why it is passed over: ``unreadable``, ``not-regular``, ``linked-folder``, ``too-deep``, ``empty``, ``encrypted``,
    ``foreign`` or ``unsupported``; None for what can be parsed."""


@attrs.frozen
class Machine:
    """Whose files are looked for: what the platform and the environment say of the places."""

    platform: str
    environ: Mapping[str, str]
    home: str
    mounts: str = "/mnt"
    """Where WSL shows the drives of Windows."""

    @classmethod
    def here(cls) -> "Machine":
        """This one."""
        return cls(sys.platform, os.environ, os.path.expanduser("~"))


def discover(roots: Iterable[str | os.PathLike[str]] | None = None) -> Iterator[Found]:
    """The sessions of all products on this machine, or below ``roots``: home directories, or folders of products.

    A root in which some product's folder lies is taken for a home directory, of any platform; every other one for such a folder
    itself, as ``~/.claude`` or ``Code`` are. Environment variables are not asked for roots. What cannot be read is a ``Found``
    with a ``problem``, and nothing raises but a root that is not there or not a folder.
    """
    if isinstance(roots, str | os.PathLike):
        raise ConvparseError("roots is an iterable of folders; put the one folder in a list")
    given = None if roots is None else [os.path.expanduser(os.fspath(root)) for root in roots]
    for root in given or ():
        if not os.path.isdir(root):  # noqa: PTH112 - a path stays the text that was given
            raise ConvparseError(f"{root} is not a folder; a root is a home directory or the folder of a product")
    return find(given, Machine.here())


def find(roots: list[str] | None, machine: Machine) -> Iterator[Found]:
    """``discover`` on any machine."""
    for source, places in PLACES.items():
        search = _Search(source)
        for base in dict.fromkeys(place.base for place in places):
            of_base = [place for place in places if place.base == base]
            for folder in dict.fromkeys(_bases(base, machine) if roots is None else _below(base, roots)):
                search.look(folder, of_base)
        yield from search.found()


# ---- bases -----------------------------------------------------------------------------------------------------------------


def _bases(base: Base, machine: Machine) -> Iterator[str]:
    """The folders of a base on a machine: what the environment names, then the usual places, then Windows' seen from WSL."""
    environ = machine.environ
    for variable in base.variables:
        name, _, below = variable.partition("/")
        if environ.get(name):
            yield _join(os.path.expanduser(environ[name]), below)
    for name in base.state if environ.get("XDG_STATE_HOME") else ():
        yield _join(environ["XDG_STATE_HOME"], name)
    yield from _of_home(base, machine.home, machine.platform, environ)
    yield from base.shared if machine.platform != "win32" else ()
    if "WSL_DISTRO_NAME" in environ:
        for home in _windows_homes(machine.mounts):
            yield from _of_home(base, home, "win32", {})


def _of_home(base: Base, home: str, platform: str, environ: Mapping[str, str]) -> Iterator[str]:
    settings, cache = {
        "darwin": (("", "Library/Application Support"), ("", "Library/Caches")),
        "win32": (("APPDATA", "AppData/Roaming"), ("LOCALAPPDATA", "AppData/Local")),
    }.get(platform, (("XDG_CONFIG_HOME", ".config"), ("XDG_CACHE_HOME", ".cache")))
    yield from (_join(home, name) for name in base.home)
    for (variable, usual), names in ((settings, base.settings), (cache, base.cache)):
        tops = dict.fromkeys((environ.get(variable) or _join(home, usual), _join(home, usual)))
        yield from (_join(top, name) for top in tops for name in names)


def _windows_homes(mounts: str) -> list[str]:
    drives = [entry.path for entry in _entries(mounts) if len(entry.name) == 1]
    return [entry.path for drive in drives for entry in _entries(_join(drive, "Users")) if _is_folder(entry)]


def _below(base: Base, roots: list[str]) -> Iterator[str]:
    for root in roots:
        if _is_home(root):
            yield from _in_home(base, root)
        elif any(word in Path(root).parts[-2:] for word in _NAMES.get(base, ("",))) or base not in _NAMES:
            yield str(Path(root).parent) if Path(root).name == "User" else root


def _in_home(base: Base, root: str) -> Iterator[str]:
    for platform in ("linux", "darwin", "win32"):
        yield from _of_home(base, root, platform, {})


def _is_home(root: str) -> bool:
    bases = {place.base for places in PLACES.values() for place in places}
    return any(os.path.isdir(folder) for base in bases for folder in _in_home(base, root))  # noqa: PTH112


_NAMES: Final = {
    place.base: place.base.settings
    for places in (PLACES["cursor"], PLACES["trae"])
    for place in places
    if place.name == r"state\.vscdb"
}
"""Databases of one name that several editors have: whose one is, the name of the editor's folder tells."""


# ---- files -----------------------------------------------------------------------------------------------------------------


class _Search:
    """What was found of one source: the files of its places, then the sessions that they are."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._seen: set[tuple[Place | None, int, int]] = set()
        self._files: dict[str, tuple[Place, str | None]] = {}
        self._problems: dict[str, str] = {}

    def look(self, base: str, places: list[Place]) -> None:
        """List the folders of the places below one base."""
        for place in places:
            stack: list[tuple[str, tuple[str, ...], int]] = [(base, tuple(place.folder.split("/")) if place.folder else (), 0)]
            while stack:
                stack.extend(reversed(list(self._step(place, *stack.pop()))))

    def _step(
        self, place: Place, folder: str, pattern: tuple[str, ...], depth: int
    ) -> Iterator[tuple[str, tuple[str, ...], int]]:
        """Go one folder on; what is to be looked at below it."""
        if pattern and "*" not in pattern[0]:
            yield _join(folder, pattern[0]), pattern[1:], depth + 1
            return
        if depth > DEPTH:
            self._problems[folder] = "too-deep"
            return
        entries = self._list(place, folder, pattern)
        if pattern[:1] == ("**",) and pattern[1:]:
            yield _join(folder, pattern[1]), pattern[2:], depth + 1
        if pattern in ((), ("**",)):
            for entry in entries:
                if re.fullmatch(place.name, entry.name):
                    self._take(place, entry)
        if pattern:
            below = pattern if pattern[0] == "**" else pattern[1:]
            for entry in entries:
                if _is_folder(entry):
                    yield entry.path, below, depth + 1
                elif entry.is_symlink() and _leads_to_folder(entry):
                    self._problems[entry.path] = "linked-folder"

    def _list(self, place: Place, folder: str, pattern: tuple[str, ...]) -> list["os.DirEntry[str]"]:
        """The entries of a folder that was not listed for this place before."""
        try:
            status = os.stat(folder)  # noqa: PTH116
            key = (place, status.st_dev, status.st_ino)
            if key in self._seen:
                return []
            self._seen.add(key)
            with os.scandir(folder) as entries:
                return sorted(entries, key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except (OSError, ValueError):
            self._problems[folder] = "unreadable"
            return []

    def _take(self, place: Place, entry: "os.DirEntry[str]") -> None:
        try:
            status = entry.stat()
        except OSError:
            self._problems[entry.path] = "unreadable"
            return
        if _is_folder(entry) or _leads_to_folder(entry):
            return
        key = (None, *_identity(entry, status))
        if entry.is_file():
            if key not in self._seen:
                self._seen.add(key)
                self._files[entry.path] = (place, place.problem or _problem(entry.path, place.form))
        else:
            self._problems[entry.path] = "not-regular"

    # -- sessions --

    def found(self) -> Iterator[Found]:
        """The sessions, each once: what belongs to another one is not found by itself."""
        belonging = _BELONGING.get(self._source)
        owned: dict[str, set[str]] = {}
        files = {path: self._gathered(path, place) for path, (place, _) in self._files.items()}
        for path, of_session in files.items():
            for other in of_session - {path}:
                owned.setdefault(other, set()).add(path)
        mains = [path for path in files if not any(self._belongs(path, owner) for owner in owned.get(path, ()))]
        del belonging
        for path in mains:
            place, problem = self._files[path]
            yield Found(self._source, path, _ids(place, path), self._stamp(path, place, files[path]), problem)
        for path, problem in self._problems.items():
            yield Found(self._source, path, problem=problem)
