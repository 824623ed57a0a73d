"""Rules of the architecture."""

from __future__ import annotations

import ast
import re
import runpy
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import nanobind.stubgen
import pytest

import cgens
from cgens.masters.registry import LOSSES

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "cgens"
SOURCES = sorted((ROOT / "native").glob("*.[ch]pp"))
NAMES = {path: ".".join(path.relative_to(PACKAGE).with_suffix("").parts) for path in sorted(PACKAGE.rglob("*.py"))}
MODULES = {name.removesuffix(".__init__"): path for path, name in NAMES.items()}

# Modules -> the modules of cgens that they may import; folders may also import from themselves.
PACKS = {"packs", "packs.pack", "packs.pack_set", "packs.array_pack"}
MAY_IMPORT = {
    "table.table": set(),
    "table.accepted": {"table.table"},
    "table.scaling": {"types"},
    "table.encoding": {"types", "_core", "named_arrays", "table.table", "table.scaling"},
    "table.frames": {"types"},
    "table.schema": {"types", "table.frames", "table.table"},
    "types": {"table"},
    "default_c": set(),
    "weight_history": {"types"},
    "trace": {"types"},
    "interrupt": {"types"},
    "coding": {"types"},
    "column_checks": {"types"},
    "row_duals": {"types", "sample_order"},
    "named_arrays": {"types"},
    "checkpoints.interfaces": {"types"},
    "checkpoints.generators": {"types"},
    "packs": {"types", "blas", "interrupt", "named_arrays", "table.table"},
    "ensemble": {"types", "weight_history", *PACKS},
    "threads": {"interrupt"},
    "blas": {"threads", "_core"},
    # The loop does not know masters or weak learners, and these know neither each other nor the loop.
    "colgen": {
        *{"types", "blas", "rounds", "ensemble", "weight_history", "trace", "interrupt", "column_checks"},
        *{"loop_inputs", "packs", "checkpoints.loop_state", "checkpoints.interfaces", "table", "table.accepted"},
    },
    "masters": {
        *{"types", "coding", "default_c", "path_problem", "_core", "blas", "user_warnings"},
        "checkpoints.interfaces",
    },
    "weak_learners": {
        *{"types", "default_c", "_core", "blas", "column_checks", "interrupt", "user_warnings", *PACKS},
        *{"named_arrays", "checkpoints.interfaces", "checkpoints.generators", "selection"},
        *{"table", "table.table", "table.accepted", "table.encoding", "table.scaling"},
    },
    "selection": {"types", "_core", "blas", "interrupt", "threads", "table.encoding"},
}


def imports_in(source: str) -> set[str]:
    """Return the modules of cgens that a source imports anywhere; `__init__` is the package itself."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports relatively"
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | ({str(node.module)} - {"cgens"})
    inner = {name.removeprefix("cgens").lstrip(".") for name in found if f"{name}.".startswith("cgens.")}
    # What is not a module is a name in one.
    return {name if name in (*MODULES, "_core") else name.rpartition(".")[0] or "__init__" for name in inner}


IMPORTS = {name: imports_in(path.read_text()) for name, path in MODULES.items()}


def test_the_parser_finds_imports():
    source = "import cgens.types, trace\nif 1:\n    from cgens.masters import hinge\n    from cgens import _core"
    assert imports_in(source) == {"types", "masters", "masters.hinge", "_core"}
    assert imports_in("from cgens.masters import Hinge") == {"masters"}
    assert imports_in("import cgens") == imports_in("from cgens import Stump") == {"__init__"}
    assert "estimators.classifier" in IMPORTS["estimators"]


@pytest.mark.parametrize("name", MAY_IMPORT)
def test_modules_import_only_what_they_may(name):
    own = {module for module in MODULES if f"{module}.".startswith(f"{name}.")}
    assert own
    for module in own:
        assert IMPORTS[module] - own <= MAY_IMPORT[name], module


def test_only_the_package_itself_and_the_baselines_import_estimators():
    for module, imported in IMPORTS.items():
        if module.split(".")[0] not in ("estimators", "baselines", "__init__"):
            assert not any(name.startswith("estimators") for name in imported), module


@pytest.mark.slow
def test_there_are_no_circular_imports():

    def reach(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " -> ".join((*trail, name))
        for other in IMPORTS.get(name, ()):
            reach(other, (*trail, name))

    for name in IMPORTS:
        reach(name, ())


#: The modules that may name losses: their own, and the registry.
OF_LOSSES = {loss.__module__.removeprefix("cgens.") for loss in LOSSES.values()} | {"masters.registry"}


def compared_strings(source: str) -> set[str]:
    """Return the strings in comparisons, patterns and collections of a source, without annotations and docstrings."""
    tree, found = ast.parse(source), set()
    annotations = {id(node.annotation) for node in ast.walk(tree) if isinstance(node, ast.AnnAssign | ast.arg)}

    def walk(node: ast.AST, inside: bool) -> None:
        if id(node) in annotations:
            return
        if inside and isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
        inside = isinstance(node, ast.Compare | ast.MatchValue | ast.Dict | ast.List | ast.Tuple | ast.Set)
        for child in ast.iter_child_nodes(node):
            walk(child, inside)

    walk(tree, False)
    return found


def test_the_parser_finds_compared_strings():
    source = '"""a."""\nx: Literal["b", "c"] = "d"\nif x == "e" or x in ("f", "g"):\n    y = {"h": ["i"]}\nf("j")'
    assert compared_strings(source) == set("efghi")


@pytest.mark.parametrize("name", sorted(set(MODULES) - OF_LOSSES))
def test_no_other_module_compares_names_of_losses(name):
    """All that depends on a loss is a method or an attribute of it."""
    assert not compared_strings(MODULES[name].read_text()) & set(LOSSES), "let the loss say it"


#: Top-level folders -> the others that they may import.
PERIPHERY = {
    "evaluation": {"cgens"},
    "benchmarks": {"cgens", "evaluation"},
    "experiments": {"cgens", "evaluation", "benchmarks"},
    "examples": {"cgens"},
}


@pytest.mark.parametrize("folder", ["src", *PERIPHERY])
def test_imports_between_top_level_folders_go_one_way(folder):
    allowed = PERIPHERY.get(folder, {"cgens"}) | {folder}
    for path in sorted((ROOT / folder).rglob("*.py")):
        nodes = list(ast.walk(ast.parse(path.read_text())))
        names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
        names += [node.module for node in nodes if isinstance(node, ast.ImportFrom)]
        imported = {name.split(".")[0] for name in names} & {"cgens", "tests", *PERIPHERY}
        assert imported <= allowed, f"{path.name} imports {imported - allowed}"


def test_threads_are_started_in_one_place():
    """By `run_tasks`, which passes exceptions on, and does not wait for threads that have nothing to do."""
    for path in SOURCES:
        if path.name != "threads.cpp":
            assert not re.search(r"#\s*pragma omp|std::(thread\b[^:]|async)", path.read_text()), path.name


def test_no_flag_that_changes_the_bits():
    flags = re.sub("#.*", "", (ROOT / "CMakeLists.txt").read_text())
    for forbidden in ("-march=native", "-mtune=native", "-ffast-math", "-Ofast", "-funsafe-math", "-mfma"):
        assert forbidden not in flags
    assert "-ffp-contract=off" in flags
    for path in SOURCES:
        assert not re.search(r"fast-math|STDC FP_CONTRACT ON|_mm\w*_fmadd", path.read_text()), path.name


def test_only_the_bindings_include_python():
    for path in SOURCES:
        if not path.name.startswith("bindings"):
            assert not re.search(r"#include\s*[<\"](nanobind|Python\.h|pybind)", path.read_text()), path.name


def test_stub_is_up_to_date(tmp_path):
    """That is, equal to what `make stubs` writes."""
    stub = tmp_path / "_core.pyi"
    nanobind.stubgen.main(["-m", "cgens._core", "-o", str(stub)])
    command = [sys.executable, "-m", "ruff", "format", "--quiet", "--config", str(ROOT / "pyproject.toml"), str(stub)]
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    assert stub.read_text() == (PACKAGE / "_core.pyi").read_text(), "run `make stubs`"


def test_no_source_file_is_too_long():
    for path in [*NAMES, *SOURCES]:
        assert len(path.read_text().splitlines()) <= 400, f"{path.name}: split it"


def test_the_version_is_that_of_pyproject():
    stated = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert stated is not None
    assert cgens.__version__ == stated.group(1) == version("cgens")


def test_public_names():
    assert all(hasattr(cgens, name) for name in cgens.__all__)
    assert {"CGEnsClassifier", "generate_columns"} <= set(cgens.__all__)


def test_deliberate_faults_apply():
    """`make faults` replaces texts: each must be in its file exactly once, or `read_faults` raises ValueError."""
    faults = runpy.run_path(str(ROOT / "tools" / "inject_faults.py"))["read_faults"]()
    assert len(faults) >= 40
