"""Runs the tests under mpirun, once for each number of ranks; the exit code is that of the first that failed.

    python run_ranks.py [--mpirun mpirun] [--ranks 1,2,3,4] [TESTS...]

Rank 0 prints; of the other ranks only what failed.
"""
import argparse
import os
import pathlib
import shlex
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpirun", default=os.environ.get("MPIRUN", "mpirun"))
    parser.add_argument("--ranks", default="1,2,3,4")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for each number of ranks")
    parser.add_argument("tests", nargs="*", default=[])
    options = parser.parse_args()
    environment = dict(os.environ, OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1")
    tests = options.tests or sorted(str(path) for path in HERE.glob("test_*.py"))
    for ranks in options.ranks.split(","):
        command = [*shlex.split(options.mpirun), "-n", ranks, sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
        print(f"== {ranks} ranks", flush=True)
        try:
            code = subprocess.run([*command, *tests], env=environment, timeout=options.timeout, cwd=HERE).returncode
        except subprocess.TimeoutExpired:
            print(f"after {options.timeout:.0f} s it had not ended")
            code = 1
        if code:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
