#include "apps/root.hpp"

#include <algorithm>

#include "apps/options.hpp"

namespace tutti::apps {

namespace {

enum class Outcome : int { success, bad_input, failure };

/// Runs `action`; returns the outcome, with the text of an exception in `text`.
Outcome attempt(const std::function<void()>& action, std::string& text) {
  try {
    action();
    return Outcome::success;
  } catch (const InputError& error) {
    text = error.what();
    return Outcome::bad_input;
  } catch (const std::exception& error) {
    text = error.what();
    return Outcome::failure;
  }
}

}  // namespace

void on_root(MPI_Comm comm, const std::function<void()>& action) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  std::string text;
  Outcome outcome = rank == 0 ? attempt(action, text) : Outcome::success;
  broadcast(comm, outcome);
  if (outcome == Outcome::success) return;
  broadcast(comm, text);
  if (outcome == Outcome::bad_input) throw InputError(text);
  throw CommonFailure(text);
}

void refuse_if_any(MPI_Comm comm, std::string text) {
  int rank = 0, size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  int first = text.empty() ? size : rank;
  MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm);
  if (first == size) return;
  std::size_t length = text.size();
  MPI_Bcast(&length, sizeof length, MPI_BYTE, first, comm);
  text.resize(length);
  MPI_Bcast(text.data(), static_cast<int>(length), MPI_CHAR, first, comm);
  throw InputError(text);
}

void broadcast_bytes(MPI_Comm comm, void* data, std::size_t size) {
  constexpr std::size_t most = std::size_t{1} << 30;  // MPI counts are ints.
  for (std::size_t sent = 0; sent < size; sent += most) {
    MPI_Bcast(static_cast<char*>(data) + sent, static_cast<int>(std::min(most, size - sent)), MPI_BYTE, 0, comm);
  }
}

}  // namespace tutti::apps
