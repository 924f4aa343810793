"""Runs the Python of README files, block by block, as a reader would: `python readme.py README.md ...`.

The blocks of a file share their names. A block with a placeholder that only its reader can fill in is left out, and named.
"""

import re
import sys

import numpy as np

PLACEHOLDERS = ("MyGame", "torch", "configs/")

ran = 0
for path in sys.argv[1:]:
    names = {"np": np, "rng": np.random.default_rng(1)}
    with open(path, encoding="utf-8") as file:
        blocks = re.findall(r"^```python\n(.*?)^```", file.read(), re.MULTILINE | re.DOTALL)
    for number, block in enumerate(blocks, 1):
        found = [each for each in PLACEHOLDERS if each in block]
        if found:
            print(f"{path}: block {number} is left out: it has {found[0]}")
            continue
        exec(compile(block, f"{path}, block {number}", "exec"), names)  # what the file tells its readers to run
        ran += 1
print(f"{ran} blocks")
sys.exit(ran < 5)
