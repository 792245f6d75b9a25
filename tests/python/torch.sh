#!/usr/bin/env bash
# torch.sh install BUILD - installs Tutti and its Python package as run.sh does, into BUILD/python, and builds the backend
# torch.sh alone BUILD MPIRUN - tests of building it, and programs
# torch.sh ranks BUILD MPIRUN RANKS - the backend's tests on so many ranks
# torch.sh fallback BUILD MPIRUN RANKS - the backend in Python, as without a compiler
# torch.sh pytorch BUILD MPIRUN - PyTorch's own tests, over gloo and over Tutti
# The Python is that of TUTTI_PYTHON, with what scripts/setup.sh torch installs. Without one, tests are skipped.
set -eu
tree=$(cd "$(dirname "$0")/../.." && pwd)
what=$1 build=$2
shift 2
python=${TUTTI_PYTHON:?the Python of a virtual environment}
skip() { echo "SKIP: $1" && exit 77; }
"$python" -c 'import torch' 2>/dev/null ||
  skip "there is no PyTorch in $python: scripts/setup.sh torch FOLDER, and TUTTI_TORCH_VENV=FOLDER"
# The library would warn of a variable that is not its own.
unset TUTTI_TORCH_VENV
export PYTHONDONTWRITEBYTECODE=1 PYTHONNOUSERSITE=1 OMP_NUM_THREADS=1
[ "$what" != install ] || "$tree/tests/python/run.sh" install "$build"
export PYTHONPATH=$build/python/site Tutti_ROOT=$build/python/prefix
unset TUTTI_PYTHON
cd "$tree/bindings/python/tests"

case $what in
  install) "$python" -m tutti.torch.build ;;
  alone) MPIRUN="$tree/scripts/mpirun.sh --unbound $1" "$python" -m pytest -q --color=no torch_alone ;;
  ranks) "$tree/scripts/mpirun.sh" --unbound "$1" "$2" "$python" -m pytest -q -x --color=no torch ;;
  fallback)
    export MPICXX=no_compiler XDG_CACHE_HOME=$build/python/empty
    "$tree/scripts/mpirun.sh" --unbound "$1" "$2" "$python" -m pytest -q -x --color=no torch/test_{operations,coalesced}.py
    ;;
  pytorch) "$python" torch/run_pytorch_suite.py --mpirun "$1" --backends gloo,tutti ;;
esac
