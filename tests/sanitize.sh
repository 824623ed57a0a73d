#!/usr/bin/env bash
# Builds the core with AddressSanitizer and UBSan into .sanitize/ and runs the tests of the compiled parts under it.
# Leaks are not counted: CPython keeps some memory to its end.
set -euo pipefail
cd "$(dirname "$0")/.."
python=.venv/bin/python
mkdir -p .sanitize
cmake=$(command -v cmake || true)
if [ -z "$cmake" ]; then
    $python -m pip install --quiet cmake
    cmake=.venv/bin/cmake
fi
quietly() { "$@" >.sanitize/log 2>&1 || { cat .sanitize/log; exit 1; }; }
quietly "$cmake" -S . -B .sanitize/build -DCGENS_SANITIZE=ON -DCMAKE_BUILD_TYPE=Debug \
    -Dnanobind_DIR="$($python -m nanobind --cmake_dir)" -DPython_EXECUTABLE="$PWD/$python"
quietly "$cmake" --build .sanitize/build --parallel 2

# A copy of the package with the sanitized core in it, found before the editable install.
rm -rf .sanitize/site && mkdir .sanitize/site
cp -r src/cgens .sanitize/site/cgens
cp .sanitize/build/_core*.so .sanitize/site/cgens/
cat >.sanitize/run.py <<'PYTHON'
import sys
import pytest
sys.meta_path = [finder for finder in sys.meta_path if "Redirecting" not in type(finder).__name__]
sys.path.insert(0, ".sanitize/site")
import cgens._core
assert ".sanitize" in cgens._core.__file__, cgens._core.__file__
sys.exit(pytest.main(sys.argv[1:]))
PYTHON
LD_PRELOAD="$(g++ -print-file-name=libasan.so) $(g++ -print-file-name=libubsan.so)" \
    ASAN_OPTIONS=detect_leaks=0:strict_string_checks=1 UBSAN_OPTIONS=print_stacktrace=1 \
    $python .sanitize/run.py -q -p no:cacheprovider -m "not slow" tests/native tests/contract tests/property
