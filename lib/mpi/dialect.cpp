// The only file with conditional compilation on the MPI library. Against the standard MPI ABI, only what the standard
// has is used, so that one binary runs on every MPI.
#include "lib/mpi/dialect.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

#include "lib/mpi/check.hpp"

namespace tutti::mpi {

std::string library_name() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  if (MPI_Get_library_version(text.data(), &length) != MPI_SUCCESS) return "unknown MPI";
  const std::string_view full{text.data(), static_cast<std::size_t>(length)};
  std::string_view name = "MPI";
  for (const std::string_view known : {"Open MPI", "MPICH", "Intel(R) MPI Library", "MVAPICH"})
    if (full.find(known) != std::string_view::npos) {
      name = known;
      break;
    }
  const std::size_t start = full.find_first_of("0123456789");
  if (start == std::string_view::npos) return std::string{name};
  const std::size_t end = full.find_first_not_of("0123456789.abrc", start);
  return std::string{name == "Intel(R) MPI Library" ? "Intel MPI" : name} + " " +
         std::string{full.substr(start, end == std::string_view::npos ? end : end - start)};
}

bool reads_device_memory() {
#if defined(MPIX_CUDA_AWARE_SUPPORT)
  return MPIX_Query_cuda_support() == 1;
#else
  return false;
#endif
}

/// Open MPI says so in a control variable; other libraries have none of that name.
bool yields_when_idle() {
  int provided = 0;
  if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) return false;
  std::array<char, 64> value{};  // of whatever type the variable has
  int index = 0, count = 0;
  if (MPI_T_cvar_get_index("mpi_yield_when_idle", &index) == MPI_SUCCESS) {
    MPI_T_cvar_handle handle{};
    if (MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) == MPI_SUCCESS) {
      MPI_T_cvar_read(handle, value.data());
      MPI_T_cvar_handle_free(&handle);
    }
  }
  MPI_T_finalize();
  return std::ranges::any_of(value, [](char byte) { return byte != 0; });
}

bool persistent_allreduce_init(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                               MPI_Request* request) {
#if MPI_VERSION >= 4
  check(MPI_Allreduce_init(in, out, count, type, op, comm, MPI_INFO_NULL, request), "MPI_Allreduce_init");
  return true;
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
  check(MPIX_Allreduce_init(in, out, count, type, op, comm, MPI_INFO_NULL, request), "MPIX_Allreduce_init");
  return true;
#else
  static_cast<void>(in), static_cast<void>(out), static_cast<void>(count), static_cast<void>(type);
  static_cast<void>(op), static_cast<void>(comm), static_cast<void>(request);
  return false;
#endif
}

}  // namespace tutti::mpi
