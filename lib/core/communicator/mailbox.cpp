#include "lib/core/communicator/mailbox.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "lib/core/transport/mpi/api.hpp"
#include "lib/core/transport/mpi/check.hpp"

namespace tutti::mpi {

static_assert(std::is_trivially_copyable_v<Letter>);

Mailbox::~Mailbox() {
  forget_sent();
  for (Sent& sent : sent_)
    if (sent.request != MPI_REQUEST_NULL) api.Request_free(&sent.request);
}

void Mailbox::send(int rank, const Letter& letter, const Rest& rest) {
  forget_sent();
  Sent& sent = sent_.emplace_back();
  sent.bytes.resize(sizeof letter + rest.size());
  std::memcpy(sent.bytes.data(), &letter, sizeof letter);
  std::ranges::copy(rest, sent.bytes.begin() + sizeof letter);
  const int bytes = narrow(static_cast<std::int64_t>(sent.bytes.size()));
  if (api.Isend(sent.bytes.data(), bytes, MPI_BYTE, rank, tag_, comm_, &sent.request) != MPI_SUCCESS)
    sent.request = MPI_REQUEST_NULL;
}

void Mailbox::serve(const std::function<void(const Letter&, const Rest&, int)>& take) {
  forget_sent();
  for (;;) {
    int is_there = 0, bytes = 0;
    MPI_Status status{};
    if (api.Iprobe(MPI_ANY_SOURCE, tag_, comm_, &is_there, &status) != MPI_SUCCESS || is_there == 0) return;
    if (api.Get_count(&status, MPI_BYTE, &bytes) != MPI_SUCCESS) return;
    Rest all(static_cast<std::size_t>(bytes));
    MPI_Request request = MPI_REQUEST_NULL;
    if (api.Irecv(all.data(), bytes, MPI_BYTE, status.MPI_SOURCE, tag_, comm_, &request) != MPI_SUCCESS) return;
    if (api.Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS || all.size() < sizeof(Letter)) return;
    Letter letter;
    std::memcpy(&letter, all.data(), sizeof letter);
    all.erase(all.begin(), all.begin() + sizeof letter);
    take(letter, all, status.MPI_SOURCE);
  }
}

void Mailbox::forget_sent() {
  sent_.remove_if([](Sent& sent) {
    int is_over = 1;
    if (sent.request != MPI_REQUEST_NULL) api.Test(&sent.request, &is_over, MPI_STATUS_IGNORE);
    return is_over != 0;
  });
}

}  // namespace tutti::mpi
