# SPDX-License-Identifier: Apache-2.0
"""Executes a notebook's cells in one process, as a kernel would, without needing one."""
import json
import os
import pathlib

FOLDER = pathlib.Path(__file__).resolve().parent.parent.parent / "examples/notebooks"


def execute(name, **environment):
    """The names that the notebook's code has defined. Raises what a cell raises, with the cell's number."""
    document = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    assert document["nbformat"] == 4 and document["cells"], "not a notebook"
    before = {key: os.environ.get(key) for key in environment}
    os.environ.update({key: str(value) for key, value in environment.items()})
    names = {"__name__": "__main__"}
    try:
        for number, cell in enumerate(document["cells"]):
            assert cell["cell_type"] in ("markdown", "code"), cell["cell_type"]
            if cell["cell_type"] == "code":
                assert not cell["outputs"], f"cell {number} is committed with its output"
                try:
                    exec(compile("".join(cell["source"]), f"{name}, cell {number}", "exec"), names)  # pylint: disable=exec-used
                except BaseException:
                    print(f"{name}: cell {number} failed")
                    raise
    finally:
        for key, value in before.items():
            if value is None:
                del os.environ[key]
            else:
                os.environ[key] = value
    return names
