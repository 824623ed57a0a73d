"""Check that `make test` catches deliberate faults.

Each fault of ``faults.toml`` is one text replacement in the library: a flipped sign, a dropped weight, an off-by-one
bin, a stale table. The script makes one at a time in a copy of the checkout, rebuilds it where C++ changed, and runs
``make test`` until the first failure, or for ten minutes. A fault that no test catches makes the script fail; one that
does not compile, or whose text is not in the source exactly once, is an error of the table.

Run ``make faults``, or ``python tools/inject_faults.py --only hinge``.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).resolve().parents[1]
COPY = ROOT / ".faults"
BUILT = {".venv", "build"}  # what stays in the copy
MAX_SECONDS = 600  # a fault whose tests take longer is caught: some loop does not end
SHARED_DATA = ROOT.parent / "shared" / "data"  # as in the Makefile, which looks beside the copy in vain


@dataclass(frozen=True)
class Fault:
    """One text replacement, with a name that says what goes wrong."""

    name: str
    file: str
    old: str
    new: str

    def apply(self, checkout: Path) -> None:
        """Make the fault in a checkout."""
        path = checkout / self.file
        path.write_text(path.read_text().replace(self.old, self.new))


def read_faults() -> list[Fault]:
    """Return the table of faults; raise ValueError unless each text is in its file exactly once."""
    table = tomllib.loads(Path(__file__).with_name("faults.toml").read_text())
    faults = [Fault(name=name, **fault) for name, fault in table.items()]
    for fault in faults:
        if (ROOT / fault.file).read_text().count(fault.old) != 1:
            raise ValueError(f"{fault.name}: the text to replace must be in {fault.file} exactly once: {fault.old}")
    return faults


def copy_checkout() -> None:
    """Make the copy equal to the working tree: write files that differ, delete others; what was built stays."""
    command = ["git", "ls-files", "-co", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    names = {name for name in listed.stdout.splitlines() if (ROOT / name).is_file()}
    for path in [path for path in COPY.rglob("*") if path.is_file()]:
        name = path.relative_to(COPY)
        if name.parts[0] not in BUILT and name.as_posix() not in names:
            path.unlink()
    for name in names:
        source, target = ROOT / name, COPY / name
        if target.is_file() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


def make(target: str, max_seconds: float | None = None) -> subprocess.CompletedProcess[str]:
    """Run make in the copy, or raise TimeoutExpired; tests stop at their first failure."""
    environment = {**os.environ, "PYTEST_ADDOPTS": "-x"}
    environment.pop("MAKEFLAGS", None)
    if SHARED_DATA.is_dir():
        environment.setdefault("CGENS_DATA", str(SHARED_DATA))
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(["make", target], cwd=COPY, env=environment, start_new_session=True, **pipes)
    try:
        output, errors = process.communicate(timeout=max_seconds)
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)  # with the processes that run the tests
        process.wait()
        raise
    return subprocess.CompletedProcess(process.args, process.returncode, output, errors)


def try_fault(fault: Fault) -> str:
    """Return the test that fails, or an empty string if none does."""
    original = (COPY / fault.file).read_text()
    try:
        fault.apply(COPY)
        built = make(".venv/installed")
        if built.returncode != 0:
            raise ValueError(f"{fault.name} does not compile:\n{built.stderr[-2000:]}")
        tested = make("test", MAX_SECONDS)
        if tested.returncode == 0:
            return ""
        failed = re.search(r"^(?:FAILED|ERROR) (\S+)", tested.stdout, re.MULTILINE)
        return failed.group(1) if failed else "make test"
    except subprocess.TimeoutExpired:
        return f"no end after {MAX_SECONDS} s"
    finally:
        (COPY / fault.file).write_text(original)


def main() -> None:
    """Try all faults, and exit with an error if one is not caught."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", default=[""], help="only faults whose name contains one of these")
    options = parser.parse_args()
    faults = [fault for fault in read_faults() if any(text in fault.name for text in options.only)]
    copy_checkout()
    for target in (".venv/installed", "test"):
        if make(target).returncode != 0:
            sys.exit(f"make {target} fails without any fault: nothing can be said about faults.")
    missed = []
    for number, fault in enumerate(faults, 1):
        began = perf_counter()
        caught = try_fault(fault)
        print(f"{number:3d} {perf_counter() - began:4.0f} s  {fault.name}: {caught or 'NOT CAUGHT'}", flush=True)
        if not caught:
            missed.append(fault.name)
    print(f"{len(faults) - len(missed)} of {len(faults)} faults caught")
    sys.exit("not caught: " + "; ".join(missed) if missed else 0)


if __name__ == "__main__":
    main()
