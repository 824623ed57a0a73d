"""The architecture's rules, kept by a test and not by memory."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "cgens"
MODULES = sorted(path for path in PACKAGE.rglob("*.py"))
SOURCES = sorted((ROOT / "native").glob("*.cpp"))


def imports_of(path: Path) -> set[str]:
    """Return the modules of cgens that a file imports, anywhere in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} imports relatively"
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    known = {"cgens", "cgens._core"} | {module_name(module) for module in MODULES}
    return {name for name in found if name in known and name != "cgens"}


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_the_parser_sees_imports():
    assert imports_of(PACKAGE / "ensemble.py") == {
        "cgens.types",
        "cgens.weight_history",
        "cgens.packs.pack",
        "cgens.packs.pack_set",
    }
    assert "cgens.estimators.classifier" in imports_of(PACKAGE / "estimators" / "__init__.py")


def test_types_import_nothing():
    assert imports_of(PACKAGE / "types.py") == set()


def test_the_loop_knows_neither_masters_nor_weak_learners():
    used = {f"cgens.{name}" for name in ("types", "ensemble", "weight_history", "trace", "interrupt", "column_checks")}
    assert imports_of(PACKAGE / "colgen.py") <= used


@pytest.mark.parametrize("name", ["weight_history", "trace", "interrupt", "coding", "column_checks"])
def test_what_the_loop_uses_knows_only_types(name):
    assert imports_of(PACKAGE / f"{name}.py") <= {"cgens.types"}


def test_matrix_products_know_the_core_and_ctrl_c():
    assert imports_of(PACKAGE / "blas.py") <= {"cgens._core", "cgens.interrupt"}


def test_an_ensemble_knows_types_and_its_path():
    assert imports_of(PACKAGE / "ensemble.py") <= {
        "cgens.types",
        "cgens.weight_history",
        "cgens.packs.pack",
        "cgens.packs.pack_set",
    }


@pytest.mark.parametrize("folder", ["masters", "weak_learners"])
def test_masters_and_families_know_types_and_their_own_folder(folder):
    other = {"masters": "weak_learners", "weak_learners": "masters"}[folder]
    for path in sorted((PACKAGE / folder).rglob("*.py")):
        for name in imports_of(path):
            known = ("types", "path_problem", "_core", "blas", "column_checks", "interrupt")
            assert (
                name.removeprefix("cgens.") in known
                or name.startswith("cgens.packs")
                or name.startswith(f"cgens.{folder}")
            ), f"{path.name}: {name}"
            assert not name.startswith(f"cgens.{other}")


def test_only_the_package_itself_and_the_rivals_import_estimators():
    for path in MODULES:
        if path.parent in (PACKAGE / "estimators", PACKAGE / "baselines") or path == PACKAGE / "__init__.py":
            continue
        assert not any(name.startswith("cgens.estimators") for name in imports_of(path)), path.name


def test_there_is_no_circle():
    """Follow the imports: no module reaches itself."""
    graph = {module_name(path): imports_of(path) for path in MODULES}
    graph["cgens._core"] = set()

    def reach(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " -> ".join((*trail, name))
        for other in graph[name]:
            reach(other, (*trail, name))

    for name in graph:
        reach(name, ())


#: What each folder outside the package may import of the others.
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


def test_every_parallel_region_states_its_threads():
    """A forked child must get one thread: `usable_threads` knows."""
    pragmas = [
        (path.name, line.strip())
        for path in SOURCES
        for line in path.read_text().splitlines()
        if re.match(r"\s*#\s*pragma omp\b.*\bparallel\b", line)
    ]
    assert len(pragmas) >= 5
    for name, line in pragmas:
        assert re.search(r"num_threads\(usable_threads\(.+\)\)", line), f"{name}: {line}"


def test_no_flag_that_changes_the_bits():
    flags = "\n".join(
        line.split("#")[0] for line in (ROOT / "CMakeLists.txt").read_text().splitlines() if line.split("#")[0].strip()
    )
    for forbidden in ("-march=native", "-mtune=native", "-ffast-math", "-Ofast", "-funsafe-math", "-mfma"):
        assert forbidden not in flags
    assert "-ffp-contract=off" in flags
    for path in SOURCES:
        assert not re.search(r"fast-math|STDC FP_CONTRACT ON|_mm\w*_fmadd", path.read_text()), path.name


def test_only_the_bindings_know_python():
    for path in sorted((ROOT / "native").glob("*.[ch]pp")):
        if not path.name.startswith("bindings"):
            assert not re.search(r"#include\s*[<\"](nanobind|Python\.h|pybind)", path.read_text()), path.name


def test_stub_is_up_to_date(tmp_path):
    """As `make stubs` writes it."""
    stub = tmp_path / "_core.pyi"
    for command in (
        [sys.executable, "-m", "nanobind.stubgen", "-m", "cgens._core", "-o", str(stub)],
        [sys.executable, "-m", "ruff", "format", "--quiet", "--config", str(ROOT / "pyproject.toml"), str(stub)],
    ):
        finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert finished.returncode == 0, finished.stderr
    assert stub.read_text() == (PACKAGE / "_core.pyi").read_text(), "run `make stubs`"


def test_python_and_core_have_no_file_too_long():
    for path in [*MODULES, *SOURCES]:
        assert len(path.read_text().splitlines()) <= 400, f"{path.name}: split it"


def test_version_is_stated_once_and_the_same():
    from importlib.metadata import version

    import cgens

    stated = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert stated is not None
    assert cgens.__version__ == stated.group(1) == version("cgens")


def test_public_names():
    import cgens

    for name in cgens.__all__:
        assert hasattr(cgens, name)
    assert {"CGEnsClassifier", "generate_columns"} <= set(cgens.__all__)
