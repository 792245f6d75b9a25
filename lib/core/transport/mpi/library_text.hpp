#pragma once
// What the texts of MPI libraries say of them. Needs no MPI.

#include <string>
#include <string_view>

namespace tutti::mpi {

/// The library's name and version, "Open MPI 4.1.4", in a text of MPI_Get_library_version.
[[nodiscard]] std::string name_in(std::string_view version);

inline constexpr std::string_view open_mpi_abi = "Open MPI", mpich_abi = "MPICH", standard_abi = "the standard MPI ABI";
/// MPIs whose handles are alike run the same programs: one of the names above (the second is that of all that derive
/// from MPICH); empty: not known. Of a library by its version and its path.
[[nodiscard]] std::string_view abi_of(std::string_view version, std::string_view path);

/// Whether a list as that of the info "mpi_memory_alloc_kinds" has memory of CUDA's devices.
[[nodiscard]] bool has_cuda_device(std::string_view kinds);

}  // namespace tutti::mpi
