#include "bindings/preload/errors.hpp"

#include <array>
#include <cstdio>
#include <exception>
#include <map>
#include <mutex>
#include <new>
#include <string>

#include "lib/core/transport/mpi/api.hpp"
#include "lib/core/transport/mpi/handles.hpp"
#include "tutti/error.hpp"

namespace tutti::interpose {
namespace {

using mpi::api;

bool has_text(int code, const std::string& text) {
  std::array<char, MPI_MAX_ERROR_STRING> found{};
  int length = 0;
  return api.Error_string(code, found.data(), &length) == MPI_SUCCESS && text == found.data();
}

/// An error code of the class with that text. Each class has one code of ours, as MPI cannot take codes back: its text
/// is that of the last error. MPICH gives no texts to codes of its own classes: there the text is printed.
int code_for(int error_class, const std::string& text) {
  static std::mutex mutex;
  static auto& codes = *new std::map<int, int>;  // never destroyed: calls may come after main
  const std::lock_guard lock{mutex};
  auto [entry, is_new] = codes.try_emplace(error_class, error_class);
  if (is_new && api.Add_error_code(error_class, &entry->second) != MPI_SUCCESS) entry->second = error_class;
  const std::string fitting = text.substr(0, MPI_MAX_ERROR_STRING - 1);
  if (entry->second != error_class) api.Add_error_string(entry->second, fitting.c_str());
  if (has_text(entry->second, fitting)) return entry->second;
  std::fputs(((text.starts_with("tutti: ") ? "" : "tutti: ") + text + "\n").c_str(), stderr);
  return error_class;
}

}  // namespace

int code_of_current() noexcept {
  try {
    throw;
  } catch (const MpiError& error) {
    return error.code();
  } catch (const MismatchError& error) {
    return code_for(MPI_ERR_TRUNCATE, error.what());
  } catch (const ArgumentError& error) {
    return code_for(MPI_ERR_ARG, error.what());
  } catch (const std::bad_alloc&) {
    return MPI_ERR_NO_MEM;
  } catch (const std::exception& error) {
    return code_for(MPI_ERR_OTHER, error.what());
  }
}

int code_of(int error_class, const std::string& text) noexcept { return code_for(error_class, text); }

int raise(MPI_Comm comm, int code) {
  api.Comm_call_errhandler(comm, code);
  return code;
}

/// MPI calls handlers of communicators only: that of a new one, as there may be no other.
int raise_by(MPI_Errhandler handler, int code) {
  try {
    const mpi::UniqueComm comm = mpi::with_same_ranks(MPI_COMM_SELF);
    api.Comm_set_errhandler(comm.get(), handler);
    api.Comm_call_errhandler(comm.get(), code);
  } catch (const MpiError&) {  // the code is all that there is
  }
  return code;
}

int raise_current(MPI_Comm comm) { return raise(comm, code_of_current()); }

}  // namespace tutti::interpose
