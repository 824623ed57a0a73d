#!/usr/bin/env bash
# Builds the core with AddressSanitizer and UBSan into .sanitize/ and runs under it the tests of the compiled parts,
# which execute all of native/, and those of the seam: every family with every master, whatever the table looks like.
# Leaks are not counted: CPython keeps some memory to its end.
set -euo pipefail
cd "$(dirname "$0")/.."
python=$PWD/.venv/bin/python
site=$PWD/.sanitize/site
mkdir -p .sanitize
cmake=$(command -v cmake || true)
if [ -z "$cmake" ]; then
    $python -m pip install --quiet cmake
    cmake=.venv/bin/cmake
fi
quietly() { "$@" >.sanitize/log 2>&1 || { cat .sanitize/log; exit 1; }; }
quietly "$cmake" -S . -B .sanitize/build -DCGENS_SANITIZE=ON -DCMAKE_BUILD_TYPE=Debug \
    -Dnanobind_DIR="$($python -m nanobind --cmake_dir)" -DPython_EXECUTABLE="$python"
quietly "$cmake" --build .sanitize/build --parallel 2

# A copy of the package with the sanitized core in it, found before the editable install, also by other processes.
rm -rf "$site" && mkdir "$site"
cp -r src/cgens "$site/cgens"
cp .sanitize/build/_core*.so "$site/cgens/"
cat >"$site/sitecustomize.py" <<'PYTHON'
import sys

sys.meta_path = [finder for finder in sys.meta_path if "Redirecting" not in type(finder).__name__]
PYTHON
export PYTHONPATH=$site ASAN_OPTIONS=detect_leaks=0:strict_string_checks=1 UBSAN_OPTIONS=print_stacktrace=1
export LD_PRELOAD="$(g++ -print-file-name=libasan.so) $(g++ -print-file-name=libubsan.so)"
$python -c 'import cgens._core as core; assert core.__file__.startswith("'"$site"'"), core.__file__'
$python -m pytest -q -p no:cacheprovider -n logical --maxprocesses 2 --dist loadfile -m "not slow" \
    tests/native tests/contract/test_masters.py tests/contract/test_loop.py::test_a_fit_is_sound \
    tests/contract/test_loop_stage_wise.py tests/contract/test_solution_path.py tests/property/test_machine.py
