#include "lib/core/transport/mpi/library_text.hpp"

#include <algorithm>

namespace tutti::mpi {

std::string name_in(std::string_view version) {
  std::string_view name = "MPI";
  for (const std::string_view known : {"Open MPI", "MPICH", "Intel(R) MPI Library", "MVAPICH"})
    if (version.find(known) != std::string_view::npos) {
      name = known;
      break;
    }
  const std::size_t start = version.find_first_of("0123456789");
  if (start == std::string_view::npos) return std::string{name};
  const std::size_t end = version.find_first_not_of("0123456789.abrc", start);
  return std::string{name == "Intel(R) MPI Library" ? "Intel MPI" : name} + " " +
         std::string{version.substr(start, end == std::string_view::npos ? end : end - start)};
}

std::string_view abi_of(std::string_view version, std::string_view path) {
  if (path.find("mpi_abi") != std::string_view::npos) return standard_abi;
  if (version.find("Open MPI") != std::string_view::npos) return open_mpi_abi;
  for (const std::string_view derived : {"MPICH", "Intel(R) MPI", "MVAPICH"})
    if (version.find(derived) != std::string_view::npos) return mpich_abi;
  return {};
}

/// Each kind is a name with any number of restrictors: "system,mpi,cuda:host:device".
bool has_cuda_device(std::string_view kinds) {
  constexpr std::string_view name = "cuda", restrictor = ":device:";
  for (std::size_t at = 0; at < kinds.size();) {
    const std::size_t end = std::min(kinds.find(',', at), kinds.size());
    const std::string kind = std::string{kinds.substr(at, end - at)} + ":";
    if (kind == "cuda:" || (kind.starts_with("cuda:") && kind.find(restrictor, name.size()) != std::string::npos))
      return true;
    at = end + 1;
  }
  return false;
}

}  // namespace tutti::mpi
