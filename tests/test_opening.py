"""Only regular files are opened; everything else is refused at once, in words."""

import errno
import os
import socket
from pathlib import Path

import pytest

from convparse.errors import ConvparseError
from convparse.reading import opening
from convparse.reading.opening import open_regular, read_beginning


def test_a_regular_file_is_opened_with_its_status(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"{}\n")

    file, status = open_regular(str(path))

    with file:
        assert (b"{}\n", 3) == (file.read(), status.st_size)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_named_pipe_is_refused_without_waiting_for_a_writer(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)

    with pytest.raises(OSError, match="named pipe") as caught:
        open_regular(str(path))

    assert (errno.EINVAL, str(path)) == (caught.value.errno, caught.value.filename)


def test_a_directory_is_refused(tmp_path):
    with pytest.raises(IsADirectoryError, match="a directory; give a file"):
        open_regular(str(tmp_path))


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="needs sockets with a path")
def test_a_socket_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s")
        with pytest.raises(OSError, match="a socket"):
            open_regular("s")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs /dev/zero")
def test_a_device_is_refused():
    with pytest.raises(OSError, match="a device"):
        open_regular("/dev/zero")


def test_a_path_that_changes_before_it_is_opened_is_refused_on_the_descriptor(tmp_path, monkeypatch):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"")
    closed = []
    monkeypatch.setattr(opening.os, "fstat", lambda descriptor: tmp_path.stat())
    monkeypatch.setattr(opening.os, "close", lambda descriptor, close=os.close: (closed.append(descriptor), close(descriptor)))

    with pytest.raises(IsADirectoryError):
        open_regular(str(path))

    assert 1 == len(closed)


def test_a_nul_in_a_name_is_the_callers_mistake():
    with pytest.raises(ConvparseError, match="NUL"):
        open_regular("a\0b")


def test_a_missing_file_raises_as_always(tmp_path):
    with pytest.raises(FileNotFoundError):
        open_regular(str(tmp_path / "none"))


def test_the_beginning_of_a_file(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"abcdef")

    assert [b"abc", b"abcdef", b""] == [read_beginning(str(path), size) for size in (3, 100, 0)]
