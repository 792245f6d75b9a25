#!/usr/bin/env python3
"""spack_test.py SOURCES VERSION - docs/spack/package.py is a recipe of this version, whose variants set options that CMake has.

Spack itself is not at hand: a stand-in for its module records what the recipe says.
"""
import itertools
import pathlib
import re
import sys
import types

SOURCES, VERSION = pathlib.Path(sys.argv[1]), sys.argv[2]
said = {}


def directive(name):
    def record(*arguments, **options):
        said.setdefault(name, []).append((arguments, options))
    return record


class CMakePackage:
    """What cmake_args() uses, with the variants of `on`."""

    def __init__(self, on):
        self.on = on
        self.spec = self

    def satisfies(self, spec):
        return spec.removeprefix("+") in self.on

    def __getitem__(self, package):
        assert package == "mpi" and "mpi" in self.on, f"{package} is not a dependency of this spec"
        return types.SimpleNamespace(mpicxx="mpicxx")

    def define(self, option, value):
        return f"-D{option}={value}"

    def define_from_variant(self, option, variant):
        assert variant in variants, f"there is no variant {variant}"
        return self.define(option, variant in self.on)


module = types.ModuleType("spack.package")
module.CMakePackage = CMakePackage
for name in ("version", "variant", "depends_on", "conflicts", "license"):
    setattr(module, name, directive(name))
module.__all__ = [name for name in vars(module) if not name.startswith("_")]
sys.modules["spack"], sys.modules["spack.package"] = types.ModuleType("spack"), module

path = SOURCES / "docs/spack/package.py"
recipe = {}
exec(compile(path.read_text(), str(path), "exec"), recipe)

assert said["version"][0][0] == (VERSION,), f"the recipe is of {said['version'][0][0]}, not of {VERSION}"
variants = [arguments[0] for arguments, _ in said["variant"]]
assert variants == ["mpi", "ucx", "cuda", "xxhash", "hwloc", "pugixml", "openblas", "shared", "tests"], variants
for name in ("depends_on", "conflicts", "variant"):
    for _, options in said[name]:
        for variant in re.findall(r"[+~](\w+)", options.get("when", "")):
            assert variant in variants, f"{name}(when={options['when']}): there is no variant {variant}"
needed = {re.split(r"[@+ ]", arguments[0])[0] for arguments, _ in said["depends_on"]}
assert {"fmt", "boost", "nlohmann-json", "mpi", "ucx", "cuda", "xxhash", "hwloc", "pugixml", "openblas",
        "googletest"} <= needed, needed

cmake = (SOURCES / "CMakeLists.txt").read_text()
known = set(re.findall(r"^(?:option|set)\((\w+) ", cmake, re.MULTILINE)) | {"MPI_CXX_COMPILER"}
for size in range(len(variants) + 1):
    for on in itertools.combinations(variants, size):
        arguments = recipe["Tutti"](on).cmake_args()
        options = dict(argument[2:].split("=") for argument in arguments)
        assert len(options) == len(arguments), f"an option comes twice: {arguments}"
        assert options.keys() <= known, f"CMakeLists.txt has no option {options.keys() - known}"
        for variant in ("mpi", "ucx", "cuda", "xxhash", "hwloc", "pugixml", "openblas", "tests"):
            assert options[f"TUTTI_{variant.upper()}"] == str(variant in on), (variant, on)
print("the recipe is right")
