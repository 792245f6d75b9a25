# Copyright the authors of Tutti
#
# SPDX-License-Identifier: Apache-2.0

from spack.package import *


class Tutti(CMakePackage):
    """Collectives for MPI programs as readable, proved schedules: a C++20 library, shared and static, and programs that
    show, prove and measure the schedules."""

    version("0.2.0")

    license("Apache-2.0")

    variant("mpi", default=True, description="Collectives; without it only schedules, their proofs and the tool")
    variant("ucx", default=False, when="+mpi", description="Messages between nodes by UCX")
    variant("cuda", default=False, when="+mpi", description="Buffers on CUDA devices")
    variant("xxhash", default=True, when="+mpi", description="`TUTTI_BITS=record:DIR`, which hashes the data of calls")
    variant("hwloc", default=True, description="Sockets, NUMA nodes and caches in `tutti info`")
    variant("pugixml", default=True, description="`tutti import`, which reads MSCCL's XML")
    variant("openblas", default=True, when="+mpi", description="Faster products of matrices in `tutti-sgd`")
    variant("shared", default=True, description="The tests run on the shared library; both are installed")
    variant("tests", default=False, description="Build the tests")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("help2man", type="build")
    depends_on("fmt@9:")
    depends_on("boost@1.74:+program_options")
    depends_on("nlohmann-json@3:")
    depends_on("mpi@3:", when="+mpi")
    depends_on("ucx@1.13:", when="+ucx")
    depends_on("cuda@12:", when="+cuda")
    depends_on("xxhash@0.8:", type="build", when="+xxhash")
    depends_on("hwloc@2:", when="+hwloc")
    depends_on("pugixml@1.10:", when="+pugixml")
    depends_on("openblas threads=none", when="+openblas")
    depends_on("googletest@1.12:+gmock", when="+tests")

    conflicts("%gcc@:11", msg="Tutti is C++20")
    conflicts("%clang@:13", msg="Tutti is C++20")

    def cmake_args(self):
        args = [
            self.define_from_variant("TUTTI_MPI", "mpi"),
            self.define_from_variant("TUTTI_HWLOC", "hwloc"),
            self.define_from_variant("TUTTI_PUGIXML", "pugixml"),
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("TUTTI_TESTS", "tests"),
            self.define("TUTTI_UCX", self.spec.satisfies("+ucx")),
            self.define("TUTTI_XXHASH", self.spec.satisfies("+xxhash")),
            self.define("TUTTI_OPENBLAS", self.spec.satisfies("+openblas")),
            self.define("TUTTI_CUDA", self.spec.satisfies("+cuda")),
            self.define("TUTTI_MAN", True),
        ]
        if self.spec.satisfies("+mpi"):
            args.append(self.define("MPI_CXX_COMPILER", self.spec["mpi"].mpicxx))
        return args
