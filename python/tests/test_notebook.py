"""The notebook of examples/ runs from beginning to end, and shows what it says."""

import pathlib

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("matplotlib")

NOTEBOOK = pathlib.Path(__file__).resolve().parents[2] / "examples" / "ranks.ipynb"


def test_the_notebook_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # for its Parquet file
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    kinds = [set(output.data) for output in shown if "data" in output]
    assert any("image/png" in kind for kind in kinds)  # the distribution
    pages = [output.data["text/html"] for output in shown if "text/html" in output.get("data", {})]
    assert len([page for page in pages if page.startswith("<iframe")]) == 2  # the bound and the profile
    frame = next(output for output in shown if "rank" in output.get("data", {}).get("text/html", ""))
    assert frame.data["text/html"].count("<tr") == 6  # a header and five vertices
    assert not any(output.output_type == "error" for output in shown)
