"""Runs PyTorch's own tests of torch.distributed (torch.testing._internal.distributed.distributed_test) over a backend.

    python run_pytorch_suite.py [--backends gloo,tutti] [--ranks 3] [--limit 60] [--only PATTERN]

Processes of one mpirun take one test after the other, as a start of PyTorch takes seconds. A test that fails or passes its
time limit ends them. Unless all ranks failed alike, it is tried once more, first in fresh ones. The table shows
run, passed, skipped and failed for each backend, and the reason of each failure. The exit code is 1 if the last backend
fails a test that the first one passes. Tests that PyTorch runs over gloo alone are run over every backend.
"""
import argparse
import collections
import fnmatch
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time


# What no backend from outside PyTorch can pass.
PYTORCH_ONLY = {"test_ddp_logging_data_cpu": "PyTorch logs the name of every backend that is not its own as custom"}


def told(pipe):
    """What a test says about its failure."""
    try:
        return pipe.recv() if pipe.poll() else ""
    except EOFError:
        return ""


class InPlaceOfGloo(str):
    """The name of a backend, for tests that ask whether it is "gloo": what gloo can do is asked of it."""

    def __eq__(self, other):
        return other == "gloo" or str.__eq__(self, other)

    def __ne__(self, other):
        return not self == other

    __hash__ = str.__hash__


def worker(folder, tests):
    """One rank: writes a file for each test that it has begun, and one for each that is over."""
    rank = int(next(os.environ[name] for name in ("OMPI_COMM_WORLD_RANK", "PMI_RANK") if name in os.environ))
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    import torch
    import torch.distributed as dist
    from torch.testing._internal import common_distributed

    torch.set_num_threads(1)
    name, os.environ["BACKEND"] = os.environ["BACKEND"], "gloo"
    from torch.testing._internal.distributed import distributed_test

    distributed_test.BACKEND = InPlaceOfGloo(name)

    skipped = {skip.exit_code: skip.message for skip in common_distributed.TEST_SKIPS.values()}

    class Suite(distributed_test.TestDistBackend, distributed_test.DistributedTest._DistTestBase):
        pass

    for test in tests:
        place = folder / test
        os.environ["TEMP_DIR"] = str(place)
        os.environ["INIT_METHOD"] = distributed_test.INIT_METHOD = f"file://{place}/shared_init_file"
        distributed_test.Barrier.barrier_id = 0
        (place / f"begun.{rank}").touch()
        ours, theirs = torch.multiprocessing.Pipe()
        try:
            Suite._run(rank, test, str(place / "init_file"), theirs)
            code, text = 0, ""
        except SystemExit as end:
            code, text = end.code or 0, told(ours)
        except BaseException as error:
            code, text = 1, f"{type(error).__name__}: {error}"
        outcome = "passed" if code == 0 else "skipped" if code in skipped else "failed"
        result = {"outcome": outcome, "text": str(text) if outcome == "failed" else skipped.get(code, "")}
        (place / "new").mkdir(exist_ok=True)
        (place / f"new/over.{rank}").write_text(json.dumps(result))
        (place / f"new/over.{rank}").rename(place / f"over.{rank}")
        if outcome == "failed":
            time.sleep(1)  # the others may see it and tell their part
            os._exit(1)
        if dist.is_initialized():
            dist.destroy_process_group()


def names():
    from torch.testing._internal.distributed import distributed_test

    suite = distributed_test.DistributedTest._DistTestBase
    return [name for name in dir(suite) if name.startswith("test")]


def prepare(folder, tests):
    for test in tests:
        for part in ("barrier", "test_dir", "init_dir"):
            (folder / test / part).mkdir(parents=True)


def outcome(folder, test, ranks):
    """The result of a test, or None as long as some rank is at it."""
    results = [json.loads(path.read_text()) for path in sorted((folder / test).glob("over.*"))]
    failed = [result for result in results if result["outcome"] == "failed"]
    if failed:
        alike = len({reason(result["text"]) for result in failed}) == 1 and len(failed) == ranks
        return {**failed[0], "is_certain": alike}
    return results[0] if len(results) == ranks else None


class Run:
    """The processes that take `tests`, until one fails."""

    def __init__(self, tests, backend, given):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=given.folder))
        prepare(self.folder, tests)
        (self.folder / "tests").write_text("\n".join(tests))
        environment = {**os.environ, "BACKEND": backend, "WORLD_SIZE": str(given.ranks), "TEMP_DIR": str(self.folder),
                       "INIT_METHOD": f"file://{self.folder}/first", "OMP_NUM_THREADS": "1"}
        command = [*given.mpirun.split(), "-n", str(given.ranks), sys.executable, __file__, "--worker", str(self.folder)]
        self.log = open(self.folder / "log", "w", encoding="utf-8")
        self.process = subprocess.Popen(command, env=environment, stdout=self.log, stderr=self.log, start_new_session=True)
        self.tests, self.given = tests, given

    def results(self):
        """Yields each test and its result; ends after the first failure."""
        try:
            for place, test in enumerate(self.tests):
                limit = self.given.limit + (60 if place == 0 else 0)
                result = self._wait(test, limit)
                yield test, result
                if result["outcome"] == "failed":
                    break
        finally:  # the caller may have enough of it
            self._end()

    def _wait(self, test, limit):
        end = time.monotonic() + limit
        while time.monotonic() < end:
            result = outcome(self.folder, test, self.given.ranks)
            if result and result["outcome"] == "failed":
                time.sleep(0.5)  # for the other ranks' words
                return outcome(self.folder, test, self.given.ranks)
            if result:
                return result
            if self.process.poll() is not None:
                time.sleep(0.5)
                return outcome(self.folder, test, self.given.ranks) or {
                    "outcome": "failed", "text": f"the processes ended with code {self.process.returncode}{self._said()}"}
            time.sleep(0.02)
        return {"outcome": "failed", "text": f"time limit of {limit} s{self._said()}"}

    def _said(self):
        """The last line of all ranks' output, for the reason of a failure."""
        lines = pathlib.Path(self.log.name).read_text(errors="replace").strip().splitlines()
        return f": {lines[-1]}" if lines else ""

    def _end(self):
        try:
            self.process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.log.close()
        shutil.rmtree(self.folder)


def run_all(tests, backend, given):
    results, left, failed_once = {}, list(tests), set()
    while left:
        for test, result in Run(left, backend, given).results():
            if result["outcome"] == "failed" and not result.get("is_certain") and test not in failed_once:
                failed_once.add(test)
                left = left[left.index(test):]  # once more, first of fresh processes
                break
            results[test] = result
            left = left[left.index(test) + 1:]
            print(f"{backend} {test}: {result['outcome']}", flush=True)
    return results


def reason(text):
    lines = [line for line in text.strip().splitlines() if line.strip()]
    told = [line for line in lines if "Error" in line or "Exception" in line]
    return (told or lines or ["?"])[-1].strip()[:200]


def report(by_backend):
    print(f"\n{'':10}{'run':>6}{'passed':>8}{'skipped':>9}{'failed':>8}")
    for backend, results in by_backend.items():
        count = collections.Counter(result["outcome"] for result in results.values())
        print(f"{backend:10}{len(results):6}{count['passed']:8}{count['skipped']:9}{count['failed']:8}")
    for backend, results in by_backend.items():
        for test, result in results.items():
            if result["outcome"] == "failed":
                print(f"{backend} {test}: {reason(result['text'])}")


def main():
    parser = argparse.ArgumentParser(description="PyTorch's tests of torch.distributed")
    parser.add_argument("--backends", default="gloo,tutti")
    parser.add_argument("--ranks", type=int, default=3)
    parser.add_argument("--limit", type=float, default=60, help="seconds a test")
    parser.add_argument("--only", default="*", help="a pattern of names")
    parser.add_argument("--mpirun", default="mpirun")
    parser.add_argument("--worker", type=pathlib.Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        worker(given.worker, (given.worker / "tests").read_text().split())
        return 0
    os.environ.update({"BACKEND": "gloo", "WORLD_SIZE": "1", "TEMP_DIR": tempfile.gettempdir()})
    tests = [name for name in names() if fnmatch.fnmatch(name, given.only)]
    with tempfile.TemporaryDirectory(prefix="tutti_pytorch_") as given.folder:
        by_backend = {backend: run_all(tests, backend, given) for backend in given.backends.split(",")}
    report(by_backend)
    first, last = by_backend[given.backends.split(",")[0]], by_backend[given.backends.split(",")[-1]]
    lost = [test for test in tests if first[test]["outcome"] == "passed" and last[test]["outcome"] == "failed"
            and test not in PYTORCH_ONLY]
    if lost:
        print(f"passed by the first backend alone: {', '.join(lost)}")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
