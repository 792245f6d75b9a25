"""The programs of docs/python.md and examples/python, on all ranks."""
import contextlib
import io
import pathlib
import re
import runpy
import warnings

import pytest

TREE = pathlib.Path(__file__).resolve().parents[3]
EXAMPLES = {"allreduce.py": "{p} ranks, mean {mean}, by ", "ring.py": "{p} ranks, sum {sum}\n",
            "mpi4py_names.py": "{p} ranks, largest {p}.0, as before\n"}


def blocks(page):
    return re.findall(r"^```python\n(.*?)^```", page.read_text(), re.M | re.S)


def test_the_page(world):
    """One after the other, as one program."""
    page = TREE / "docs" / "python.md"
    if not page.exists():
        pytest.skip(f"there is no {page}")
    code = blocks(page)
    assert len(code) >= 4
    names, said = {}, io.StringIO()
    with contextlib.redirect_stdout(said), warnings.catch_warnings():
        warnings.simplefilter("error")
        for block in code:
            exec(compile(block, str(page), "exec"), names)
    total = world.size * (world.size + 1) / 2
    assert said.getvalue() == f"rank {world.rank} of {world.size}: {total} in all, at most {float(world.size)}\n"


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(world, name):
    program = TREE / "examples" / "python" / name
    if not program.exists():
        pytest.skip(f"there is no {program}")
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        runpy.run_path(str(program), run_name="__main__")
    p = world.size
    text = EXAMPLES[name].format(p=p, mean=(p + 1) / 2, sum=p * (p - 1) // 2)
    assert said.getvalue().startswith(text) if world.rank == 0 else said.getvalue() == ""
