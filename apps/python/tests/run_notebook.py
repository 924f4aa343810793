"""Executes a notebook and fails where a cell fails: `python run_notebook.py tour.ipynb [output.ipynb]`."""

import sys
import time

import nbformat
from nbclient import NotebookClient

began = time.monotonic()
notebook = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(notebook, timeout=900, kernel_name="python3").execute()
pictures = sum(
    "image/png" in output.get("data", {}) or "image/svg+xml" in output.get("data", {})
    for cell in notebook.cells
    if cell.cell_type == "code"
    for output in cell.outputs
)
if len(sys.argv) > 2:
    nbformat.write(notebook, sys.argv[2])
print(f"{len(notebook.cells)} cells in {time.monotonic() - began:.0f} s, {pictures} pictures")
sys.exit(pictures < 3)
