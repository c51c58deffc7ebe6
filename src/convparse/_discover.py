"""``discover``: the sessions that there are on this machine, or below some folders.

What comes in: nothing, or folders. What goes out: a ``Found`` for every session and every database, and for whatever was
passed over, each with its reason. ``_places`` says where to look and ``gather`` of a source what belongs together; directories
themselves are listed, and no product's index is asked.

Directories are listed by an explicit stack, no deeper than ``DEPTH``. Links to directories are not followed, but for the
folders that a place begins with, for people move these; a directory or file that is reached twice counts once, by device and
inode. Of a file no more than its first bytes are read. Never done: nothing is written, no network is asked, nothing that holds
credentials is opened, no database is opened as one.
"""

import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, TypeAlias

import attrs

from convparse import _stamps
from convparse._calls import path_of
from convparse._places import PLACES, Base, Place
from convparse.errors import ConvparseError
from convparse.reading.opening import read_beginning
from convparse.sources import SOURCES
from convparse.sources._source import Gathered

DEPTH: Final = 64
"""Levels of folders below a base."""
_HEAD: Final = 4_096
_MARKS: Final = (b"{", b"[", b"\0")
"""What JSON begins with, somewhere in its first bytes, or damage that may hide it."""
_FILE: Final = -1
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
    shared: tuple[str, ...] = ("/tmp", "/workspace")  # noqa: S108 - only read
    """Folders that are nobody's home, in which containers have the servers of editors."""

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
    given = None if roots is None else [path_of(root) for root in roots]
    for root in given or ():
        if not os.path.isdir(root):  # noqa: PTH112 - a path stays the text that was given
            raise ConvparseError(f"{root} is not a folder; a root is a home directory or the folder of a product")
    return find(given, Machine.here())


def find(roots: list[str] | None, machine: Machine) -> Iterator[Found]:
    """``discover`` on any machine."""
    for source, places in PLACES.items():
        search = _Search()
        for place in places:
            search.look(place, _bases(place.base, machine) if roots is None else _below(place.base, roots))
        yield from _sessions(source, search.files)
        yield from (Found(source, path, problem=problem) for path, problem in search.problems.items())


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
    yield from (_join(top, name) for top in machine.shared for name in base.shared)
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
    drives = [path for path in _folders(mounts) if len(_name(path)) == 1]
    return [home for drive in drives for home in _folders(_join(drive, "Users"))]


def _folders(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.path for entry in entries if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []


def _below(base: Base, roots: list[str]) -> Iterator[str]:
    for root in roots:
        if _is_home(root):
            yield from _in_home(base, root)
        else:
            folder = os.path.dirname(os.path.abspath(root)) if _name(root) == "User" else root  # noqa: PTH100, PTH120
            if not base.named or _name(folder) in (*base.settings, *base.cache):
                yield folder


def _in_home(base: Base, root: str) -> Iterator[str]:
    for platform in ("linux", "darwin", "win32"):
        yield from _of_home(base, root, platform, {})


def _is_home(root: str) -> bool:
    bases = {place.base for places in PLACES.values() for place in places}
    return any(os.path.isdir(folder) for base in bases for folder in _in_home(base, root))  # noqa: PTH112


# ---- files -----------------------------------------------------------------------------------------------------------------

_Step: TypeAlias = tuple[str, tuple[str, ...], int]
"""A folder, the pattern of what is to be looked at below it, and its depth."""


class _Search:
    """What was found of one source: the files of its places, and what was passed over."""

    def __init__(self) -> None:
        self._seen: set[tuple[int, tuple[str, ...], int, int]] = set()
        self._kinds: dict[Place, int] = {}
        self.files: dict[str, tuple[Place, str | None]] = {}
        self.problems: dict[str, str] = {}

    def look(self, place: Place, bases: Iterable[str]) -> None:
        """List the folders of a place below its bases."""
        kind = self._kinds.setdefault(attrs.evolve(place, folder=""), len(self._kinds))
        for base in bases:
            stack: list[_Step] = [(base, tuple(place.folder.split("/")) if place.folder else (), 0)]
            while stack:
                stack.extend(reversed(list(self._step(place, kind, *stack.pop()))))

    def _step(self, place: Place, kind: int, folder: str, pattern: tuple[str, ...], depth: int) -> Iterator[_Step]:
        """One folder; what is to be looked at below it."""
        if pattern and "*" not in pattern[0]:
            yield _join(folder, pattern[0]), pattern[1:], depth + 1
            return
        if depth > DEPTH:
            self.problems[folder] = "too-deep"
            return
        deep = pattern[:1] == ("**",)
        if deep and pattern[1:]:  # the folders of no level
            yield _join(folder, pattern[1]), pattern[2:], depth + 1
        for entry in self._list(kind, pattern, folder):
            if entry.is_dir(follow_symlinks=False):
                if pattern:
                    yield entry.path, pattern if deep else pattern[1:], depth + 1
            elif pattern and entry.is_symlink() and os.path.isdir(entry.path):  # noqa: PTH112
                self.problems[entry.path] = "linked-folder"
            elif not pattern[int(deep) :] and re.fullmatch(place.name, entry.name):
                self._take(place, entry.path)

    def _list(self, kind: int, pattern: tuple[str, ...], folder: str) -> list["os.DirEntry[str]"]:
        """The entries of a folder, if it was not listed before for what is looked for below it."""
        try:
            if not self._is_new(kind, pattern, _status(folder)):
                return []
            with os.scandir(folder) as entries:
                return sorted(entries, key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError:
            self.problems[folder] = "unreadable"
            return []

    def _take(self, place: Place, path: str) -> None:
        try:
            status = _status(path)
            if self._is_new(_FILE, (), status):
                regular = stat.S_ISREG(status.st_mode)
                problem = place.problem or (_problem(path, place.form) if regular else "not-regular")
                self.files[path] = (place, problem)
        except OSError:
            self.problems[path] = "unreadable"

    def _is_new(self, kind: int, pattern: tuple[str, ...], status: os.stat_result) -> bool:
        key = (kind, pattern, status.st_dev, status.st_ino)
        new = key not in self._seen
        self._seen.add(key)
        return new


def _status(path: str) -> os.stat_result:
    return os.stat(path)  # noqa: PTH116 - not the entry's: on Windows that has no inode


def _problem(path: str, form: str) -> str | None:
    """What the first bytes tell against a file."""
    head = read_beginning(path, _HEAD)
    if not head:
        return "empty"
    if form in _MAGIC:
        return None if head.startswith(_MAGIC[form]) else "foreign" if _is_text(head[:16]) else "encrypted"
    return None if form == "text" or any(mark in head for mark in _MARKS) else "foreign"


def _is_text(data: bytes) -> bool:
    try:
        return data.decode().isprintable()
    except UnicodeDecodeError:
        return False


Gather: TypeAlias = Callable[[str, str, bool], Gathered]


# ---- sessions --------------------------------------------------------------------------------------------------------------


def _sessions(source: str, files: Mapping[str, tuple[Place, str | None]]) -> Iterator[Found]:
    """The sessions that files make, each once: what another one of them is made of is not found by itself."""
    adapter = SOURCES[source]
    gather = adapter.gather if adapter.gathering is None else adapter.gathering()
    variants = adapter.variants
    gathered = {path: _gathered(gather, variants, path, *about) for path, about in files.items()}
    owned: set[str] = set()
    for path in sorted(files, key=lambda path: -len(gathered[path])):
        if path not in owned and files[path][1] in (None, "empty"):
            owned |= {other for other in gathered[path] if other in files and other != path and _is_part(other, path, files)}
    told: set[str] = set()
    for path, (place, problem) in files.items():
        main = _session_folder(path, place) if problem is None else path
        if (path not in owned or problem == "encrypted") and main not in told:
            told.add(main)
            names = gathered[path] if main == path else _gathered(gather, variants, main, place, problem)
            is_database = place.form == "database" and problem is None
            facts = _stamps.database_facts(path) if is_database else b""
            stamp = _stamps.stamp_of([name for name in names if not (is_database and name == path)], facts)
            yield Found(source, main, _ids(place, main), stamp, problem)


def _gathered(gather: Gather, variants: Iterable[str], path: str, place: Place, problem: str | None) -> tuple[str, ...]:
    """All files of the session of a file."""
    variant = "encrypted-store" if problem == "encrypted" and "encrypted-store" in variants else place.variant
    if variant not in variants:
        return (path,)
    return _stamps.files_of(gather(path, variant, True))


def _is_part(path: str, owner: str, files: Mapping[str, tuple[Place, str | None]]) -> bool:
    place = files[path][0]
    return not place.chained or _ids(place, path) == _ids(files[owner][0], owner)


def _session_folder(path: str, place: Place) -> str:
    """For a sub-agent's file whose session has no main file the folder of the session."""
    if "/subagents/" not in place.folder:
        return path
    folder = path
    while _name(folder) != "subagents":
        folder = os.path.dirname(folder)  # noqa: PTH120
    return os.path.dirname(folder)  # noqa: PTH120


def _ids(place: Place, path: str) -> tuple[str, ...]:
    folder, name = os.path.split(path)
    if place.id_from == "folder":
        return (_name(folder),)
    match = re.fullmatch(place.name, name)
    id = match.groupdict().get("id") if match is not None else name
    return (id,) if id is not None else ()


def _join(folder: str, name: str) -> str:
    return os.path.join(folder, *name.split("/")) if name else folder  # noqa: PTH118


def _name(path: str) -> str:
    return os.path.basename(path.rstrip("/\\"))  # noqa: PTH119
