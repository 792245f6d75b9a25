#!/usr/bin/env bash
# run.sh install BUILD [CMAKE OPTIONS...] - installs Tutti from a build folder into BUILD/python/prefix, and the Python package
#                  against it into BUILD/python/site
# run.sh tests BUILD MPIRUN RANKS [FILES...] - the package's tests on so many ranks
# The Python is that of TUTTI_PYTHON, with what scripts/setup.sh python installs. Without one, tests are skipped.
set -eu
tree=$(cd "$(dirname "$0")/../.." && pwd)
what=$1 folder=$2/python build=$2
shift 2
python=${TUTTI_PYTHON:-$tree/build/test/python/bin/python}
skip() { echo "SKIP: $1" && exit 77; }
[ -x "$python" ] || skip "there is no Python with nanobind, NumPy and mpi4py in $python: scripts/setup.sh python FOLDER"
export PYTHONDONTWRITEBYTECODE=1 PYTHONNOUSERSITE=1 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

case $what in
  install)
    cmake --install "$build" --prefix "$folder/prefix" >"$folder.log" 2>&1 || { cat "$folder.log" && exit 1; }
    export CMAKE_PREFIX_PATH=$folder/prefix CMAKE_ARGS="$*" CMAKE_BUILD_PARALLEL_LEVEL=2
    # A folder of its own, so that the build is repeated in part only.
    "$python" -m pip install --quiet --no-build-isolation --no-deps --no-index --disable-pip-version-check --upgrade \
      --root-user-action=ignore --target "$folder/site" "--config-settings=build-dir=$folder/build" \
      "--config-settings=cmake.define.CMAKE_CXX_FLAGS=-Werror" "$tree/bindings/python"
    ;;
  tests)
    mpirun=$1 ranks=$2
    shift 2
    [ -d "$folder/site/tutti" ] || skip "the package is not installed in $folder/site (test python_install)"
    export TUTTI_TOOL=$folder/prefix/bin/tutti PYTHONPATH=$folder/site MPIRUN="$tree/scripts/mpirun.sh $mpirun"
    cd "$tree/bindings/python/tests"
    "$tree/scripts/mpirun.sh" "$mpirun" "$ranks" "$python" -m pytest -q -x --color=no --ignore=torch --ignore=torch_alone "${@:-.}"
    ;;
esac
