#pragma once
// Work of rank 0 alone, files above all, and how the ranks learn of what failed on one of them.

#include <mpi.h>

#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace tutti::apps {

/// Something failed on all ranks alike: rank 0 tells, all of them end.
class CommonFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Collective: rank 0 runs `action`. If it throws, all ranks throw: InputError as itself, any other exception as
/// CommonFailure. So no rank is left waiting for one that has given up.
void on_root(MPI_Comm comm, const std::function<void()>& action);

/// Collective: if any rank's text is not empty, all ranks throw InputError with the one of the first such rank.
void refuse_if_any(MPI_Comm comm, std::string text);

/// Collective: all ranks get rank 0's value.
void broadcast_bytes(MPI_Comm comm, void* data, std::size_t size);
template <class T>
requires std::is_trivially_copyable_v<T>
void broadcast(MPI_Comm comm, T& value) { broadcast_bytes(comm, &value, sizeof value); }
template <class Container>
requires requires(Container c) { c.resize(c.size()); }
void broadcast(MPI_Comm comm, Container& values) {
  std::size_t size = values.size();
  broadcast(comm, size);
  values.resize(size);
  broadcast_bytes(comm, values.data(), size * sizeof(*values.data()));
}

}  // namespace tutti::apps
