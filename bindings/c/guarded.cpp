#include "bindings/c/guarded.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <string>

#include "lib/core/transport/mpi/api.hpp"
#include "tutti/c/types.h"
#include "tutti/error.hpp"

namespace tutti::c {
namespace {

struct LastError {
  std::string text;
  const char* shown = "";
  int mpi_code = MPI_SUCCESS;
};

/// Frees a thread's error. The main thread's stays: destructors of static objects, which come later, may still call.
class ErrorOwner {
 public:
  ErrorOwner() = default;
  ErrorOwner(const ErrorOwner&) = delete;
  ErrorOwner& operator=(const ErrorOwner&) = delete;
  ~ErrorOwner() {
    if (::gettid() != ::getpid()) delete error_;
  }
  [[nodiscard]] LastError* error() const { return error_; }

 private:
  LastError* error_ = new LastError;
};

LastError& last_error() {
  thread_local const ErrorOwner owner;
  thread_local LastError* const error = owner.error();
  return *error;
}

tutti_status keep(tutti_status status, const char* text, int mpi_code = MPI_SUCCESS) noexcept {
  LastError& last = last_error();
  last.mpi_code = mpi_code;
  try {
    last.text = text;
    last.shown = last.text.c_str();
  } catch (const std::bad_alloc&) {
    last.shown = "an error for whose text there is no memory";
  }
  return status;
}

/// " on rank 3 of MPI_COMM_WORLD", or nothing where MPI does not run.
std::string place() {
  int has_begun = 0, has_ended = 0, rank = 0;
  if (mpi::api.Initialized(&has_begun) != MPI_SUCCESS || has_begun == 0) return {};
  if (mpi::api.Finalized(&has_ended) != MPI_SUCCESS || has_ended != 0) return {};
  if (mpi::api.Comm_rank(MPI_COMM_WORLD, &rank) != MPI_SUCCESS) return {};
  return fmt::format(" on rank {} of MPI_COMM_WORLD", rank);
}

}  // namespace

tutti_status caught() noexcept {
  try {
    throw;
  } catch (const ArgumentError& error) {
    return keep(TUTTI_ERROR_ARGUMENT, error.what());
  } catch (const StateError& error) {
    return keep(TUTTI_ERROR_STATE, error.what());
  } catch (const MpiError& error) {
    return keep(TUTTI_ERROR_MPI, error.what(), error.code());
  } catch (const Error& error) {
    return keep(TUTTI_ERROR_FAILED, error.what());
  } catch (const std::bad_alloc&) {
    return keep(TUTTI_ERROR_MEMORY, "tutti: the host has no memory left");
  } catch (const std::exception& error) {
    return keep(TUTTI_ERROR_OTHER, error.what());
  } catch (...) {
    return keep(TUTTI_ERROR_OTHER, "tutti: an exception of unknown type");
  }
}

bool is_address(const void* handle) {
  constexpr std::uintptr_t above_numbers = std::uintptr_t{1} << 32U, page = 4096;
  const auto address = reinterpret_cast<std::uintptr_t>(handle);
  if (address % alignof(std::max_align_t) != 0) return false;
  if (address >= above_numbers) return true;
  unsigned char is_there = 0;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): that it is one is not known
  return ::mincore(reinterpret_cast<void*>(address / page * page), 1, &is_there) == 0;  // numbers need not be mapped
}

void Site::refuse(std::string_view argument, std::string_view given, std::string_view allowed) const {
  throw ArgumentError(
      fmt::format("{}{}: argument '{}' is {}; allowed: {}", function_, place(), argument, given, allowed));
}

bool Site::is_marked_not_contiguous(const void* given) { return given == tutti_not_contiguous(); }

void Site::refuse_size(std::string_view argument, std::size_t size, std::string_view initialiser) const {
  refuse(argument, fmt::format("a structure whose member 'size' is {}", size),
         fmt::format("one that begins with '{}', compiled with the headers of this library", initialiser));
}

}  // namespace tutti::c

const char* tutti_last_error() { return tutti::c::last_error().shown; }

int tutti_last_mpi_code() { return tutti::c::last_error().mpi_code; }

const char* tutti_error_string(int status) {
  // In the order of tutti_status.
  static constexpr std::array<const char*, TUTTI_ERROR_OTHER + 1> texts{
      "success",     "wrong argument", "handle used where it must not be", "error of MPI", "no memory left",
      "failed call", "other error"};
  if (status < 0 || status > TUTTI_ERROR_OTHER) return "no status of Tutti";
  return texts[static_cast<std::size_t>(status)];
}
