"""The notebook of the documentation runs from its first cell to its last, and holds no outputs of anybody's machine."""

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import convparse

DOCS = Path(__file__).parents[1] / "docs"
PATH = DOCS / "notebook.ipynb"
NEEDED = ("ipykernel", "matplotlib", "nbclient", "nbformat", "pandas")
RUN = """
import sys, nbclient, nbformat
notebook = nbformat.read(sys.argv[1], 4)
nbformat.validate(notebook)
nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": sys.argv[2]}}).execute()
nbformat.write(notebook, sys.argv[3])
"""


def cells():
    return json.loads(PATH.read_text("utf-8"))["cells"]


def test_the_notebook_is_kept_without_outputs():
    kept = [(cell["outputs"], cell["execution_count"]) for cell in cells() if cell["cell_type"] == "code"]

    assert kept == [([], None)] * len(kept) != []


def test_the_notebook_is_of_nobodys_machine():
    notebook = json.loads(PATH.read_text("utf-8"))

    assert notebook["metadata"] == {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    assert [cell["metadata"] for cell in cells()] == [{}] * len(cells())


def test_links_of_the_notebook_lead_somewhere():
    text = "\n".join("".join(cell["source"]) for cell in cells() if cell["cell_type"] == "markdown")
    links = re.findall(r"\]\(([^)#]+)", text)

    assert sorted(links) == ["notebooks.md", "tables.md"]
    assert [link for link in links if not (DOCS / link).is_file()] == []


@pytest.mark.skipif(any(find_spec(name) is None for name in NEEDED), reason="the notebook needs what is in the extra `dev`")
def test_the_notebook_goes_from_a_file_to_a_table_to_a_plot(tmp_path):
    # Not in this process: these libraries warn on their own account. What a cell warns of is on its stderr.
    own = {name: str(tmp_path) for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "MPLCONFIGDIR")}
    packages = os.pathsep.join((str(Path(convparse.__file__).parents[1]), *sys.path))
    env = {name: value for name, value in os.environ.items() if not name.startswith(("COVERAGE", "MPLBACKEND"))}
    done = tmp_path / "done.ipynb"

    ran = subprocess.run(
        [sys.executable, "-c", RUN, str(PATH), str(DOCS), str(done)],
        env=env | own | {"PYTHONPATH": packages},
        capture_output=True,
        text=True,
    )

    assert ran.returncode == 0, ran.stderr
    outputs = {
        cell["id"]: cell["outputs"] for cell in json.loads(done.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"
    }
    assert [out for each in outputs.values() for out in each if out.get("name") == "stderr"] == []
    for name in ("parse", "drops", "conversation"):
        (shown,) = outputs[name]
        assert "".join(shown["data"]["text/html"]).startswith('<div class="convparse">')
    assert len("".join(outputs["print"][0]["text"]).splitlines()) == 5
    (messages,) = outputs["table"]
    assert "There are twelve notes." in "".join(messages["data"]["text/html"])
    (many,) = outputs["many"]
    assert [name for name in convparse.SOURCES if name not in "".join(many["data"]["text/plain"])] == []
    assert [list(out["data"]) for out in outputs["plot"]] == [["image/png", "text/plain"]]
