#include "lib/core/transport/mpi/mpi_port.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "lib/core/transport/mpi/api.hpp"

namespace tutti::mpi {
namespace {

/// MPIs send messages of so few bytes at once, buffered. Asking then saves a place among the pending ones; for larger
/// ones the fence inside MPI_Test would wait until the data have left the core and, where ranks share a core, the MPI
/// give it away (a broadcast of 512 bytes took twice as long).
constexpr std::int64_t often_buffered = 256;

std::int64_t pieces_of(std::int64_t bytes, std::int64_t limit) {
  return std::max<std::int64_t>(1, (bytes + limit - 1) / limit);
}

/// Calls post(offset, bytes) for each piece of a message. A signal is one piece without bytes.
template <class Post>
void for_each_piece(std::int64_t bytes, std::int64_t limit, Post post) {
  for (std::int64_t piece = 0; piece < pieces_of(bytes, limit); ++piece)
    post(piece * limit, narrow(std::min(bytes - piece * limit, limit)));
}

/// Enough for all messages of most plans; a plan of more pieces makes room as it needs it.
constexpr std::int64_t room_at_first = 4096;

std::size_t room_for(const CompiledPlan& plan, std::int64_t limit) {
  std::int64_t most = 0;
  for (const CompiledStep& step : plan.steps)
    if (step.is_message() && step.transport == Transport::mpi) most += pieces_of(step.bytes, limit);
  return static_cast<std::size_t>(std::min(most, room_at_first));
}

}  // namespace

void MpiPort::throw_failed(const Pending& pending, int code) {
  int kind = MPI_SUCCESS;
  api.Error_class(code, &kind);
  if (kind == MPI_ERR_TRUNCATE && pending.expected >= 0)
    throw WrongMessage(pending.peer, fmt::format("more bytes arrived than the {} expected", pending.expected));
  throw Error(fmt::format("{} rank {}: {}", pending.expected < 0 ? "send to" : "receive from", pending.peer,
                          MpiError(code, "MPI_Test").what()));
}

MpiPort::MpiPort(const Route& route, const CompiledPlan& plan) : route_(route), pieces_(plan.steps.size()) {
  make_room(room_for(plan, route.message_limit));
  completed_.reserve(pieces_.size());
}

void MpiPort::make_room(std::size_t messages) {
  requests_.resize(messages, MPI_REQUEST_NULL);
  pending_.resize(messages);
  finished_.resize(messages);
  statuses_.resize(messages);
}

Posted MpiPort::post_send(int index, const CompiledStep& step, const std::byte* data) {
  const int peer = route_.ranks[static_cast<std::size_t>(step.peer)], tag = route_.tags.tag(tag_, step.message);
  const bool ask = step.bytes <= std::min(often_buffered, route_.message_limit);  // all of it in one piece
  int complete = 0;
  const cuda::ScopedDevice scope{cuda::FarData::device(step.device)};
  for_each_piece(step.bytes, route_.message_limit, [&](std::int64_t offset, int bytes) {
    MPI_Request request = MPI_REQUEST_NULL;
    check(api.Isend(data + offset, bytes, MPI_BYTE, peer, tag, route_.comm, &request), "MPI_Isend");
    if (ask) check(api.Test(&request, &complete, MPI_STATUS_IGNORE), "MPI_Test");
    if (complete == 0) add(request, {index, -1, step.peer, step.device, tag});
  });
  return complete != 0 ? Posted::complete : Posted::pending;
}

Posted MpiPort::post_recv(int index, const CompiledStep& step, std::byte* into) {
  const int peer = route_.ranks[static_cast<std::size_t>(step.peer)], tag = route_.tags.tag(tag_, step.message);
  const cuda::ScopedDevice scope{cuda::FarData::device(step.device)};
  for_each_piece(step.bytes, route_.message_limit, [&](std::int64_t offset, int bytes) {
    MPI_Request request = MPI_REQUEST_NULL;
    check(api.Irecv(into + offset, bytes, MPI_BYTE, peer, tag, route_.comm, &request), "MPI_Irecv");
    add(request, {index, bytes, step.peer, step.device, tag});
  });
  return Posted::pending;
}

void MpiPort::add(MPI_Request request, const Pending& pending) {
  const auto slot = static_cast<std::size_t>(in_flight_++);
  if (slot == requests_.size()) make_room(2 * slot + 1);
  requests_[slot] = request;
  pending_[slot] = pending;
  ++pieces_[static_cast<std::size_t>(pending.index)];
  if (pending.device >= 0) cuda::FarData::begin(pending.device);
}

int MpiPort::look() {
  const int finished = test();
  for (int i = 0; i < finished; ++i) {
    const Pending& pending = pending_[static_cast<std::size_t>(finished_[static_cast<std::size_t>(i)])];
    if (pending.device >= 0) cuda::FarData::end();
    if (--pieces_[static_cast<std::size_t>(pending.index)] == 0) completed_.push_back(pending.index);
  }
  if (finished > 0) forget(finished);
  return finished;
}

/// Fills finished_ with the positions of the requests that have completed; returns how many.
int MpiPort::test() {
  if (in_flight_ == 0) return 0;
  const cuda::ScopedDevice scope{cuda::FarData::device()};
  if (in_flight_ == 1) return test_only_one();
  int finished = 0;
  const int code = api.Testsome(in_flight_, requests_.data(), &finished, finished_.data(), statuses_.data());
  if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) check(code, "MPI_Testsome");
  for (int i = 0; i < finished; ++i) {
    const auto slot = static_cast<std::size_t>(i);
    const Pending& pending = pending_[static_cast<std::size_t>(finished_[slot])];
    if (code == MPI_ERR_IN_STATUS && statuses_[slot].MPI_ERROR != MPI_SUCCESS)
      throw_failed(pending, statuses_[slot].MPI_ERROR);
    if (pending.expected >= 0) require_complete(pending, statuses_[slot]);
  }
  return finished;
}

/// Tests the only request in flight: the usual state of a chain. MPI_Test is quicker than MPI_Testsome, and its own
/// return value names the error.
int MpiPort::test_only_one() {
  const Pending& pending = pending_[0];
  int finished = 0;
  const int code = api.Test(requests_.data(), &finished, statuses_.data());
  if (code != MPI_SUCCESS) throw_failed(pending, code);
  if (finished != 0 && pending.expected >= 0) require_complete(pending, statuses_[0]);
  finished_[0] = 0;
  return finished;
}

/// Ranks that call with different counts are told, instead of going on with half a message.
void MpiPort::require_complete(const Pending& pending, const MPI_Status& status) const {
  int bytes = 0;
  check(api.Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
  if (bytes != pending.expected) throw WrongMessage::of_length(pending.peer, bytes, pending.expected);
}

int MpiPort::unfinished() const {
  if (in_flight_ == 0) return -1;
  const std::span<const Pending> all{pending_.data(), static_cast<std::size_t>(in_flight_)};
  const auto receive = std::ranges::find_if(all, [](const Pending& pending) { return pending.expected >= 0; });
  return receive == all.end() ? all.front().index : receive->index;
}

bool MpiPort::has_come_with_another_fingerprint(const Pending& receive) const {
  const int from = route_.ranks[static_cast<std::size_t>(receive.peer)];
  for (int part = 0; part < route_.tags.fingerprints(); ++part) {
    const int tag = route_.tags.with_fingerprint(receive.tag, part);
    int has_come = 0;
    if (tag != receive.tag) check(api.Iprobe(from, tag, route_.comm, &has_come, MPI_STATUS_IGNORE), "MPI_Iprobe");
    if (has_come != 0) return true;
  }
  return false;
}

int MpiPort::with_message_of_another_call() {
  // A probe takes as long as a poll, and as many are made for a receive as there are fingerprints.
  constexpr int most_requests = 8;
  int has_any_come = 0;
  check(api.Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, route_.comm, &has_any_come, MPI_STATUS_IGNORE), "MPI_Iprobe");
  if (has_any_come == 0) return -1;
  for (int looks = 0; looks < std::min(in_flight_, most_requests); ++looks) {
    looked_at_ = (looked_at_ + 1) % in_flight_;
    const Pending& pending = pending_[static_cast<std::size_t>(looked_at_)];
    if (pending.expected < 0 || !has_come_with_another_fingerprint(pending)) continue;
    --looked_at_;  // the next call sees it again
    return pending.index;
  }
  return -1;
}

/// Closes the gaps that finished messages left.
void MpiPort::forget(int finished) {
  if (finished == in_flight_) {
    in_flight_ = 0;
    return;
  }
  int kept = 0;
  for (int i = 0; i < in_flight_; ++i) {
    const auto from = static_cast<std::size_t>(i);
    if (requests_[from] == MPI_REQUEST_NULL) continue;
    requests_[static_cast<std::size_t>(kept)] = requests_[from];
    pending_[static_cast<std::size_t>(kept)] = pending_[from];
    ++kept;
  }
  in_flight_ = kept;
}

/// Whether all receives were over in time. Those that were matched go on until their senders are done.
bool MpiPort::end_receives() noexcept {
  constexpr std::chrono::seconds in_time{1};
  const auto start = std::chrono::steady_clock::now();
  for (;;) {
    bool are_over = true;
    for (int i = 0; i < in_flight_; ++i) {
      MPI_Request& request = requests_[static_cast<std::size_t>(i)];
      if (request == MPI_REQUEST_NULL || pending_[static_cast<std::size_t>(i)].expected < 0) continue;
      int done = 0;
      api.Test(&request, &done, MPI_STATUS_IGNORE);
      are_over &= done != 0;
    }
    if (are_over || std::chrono::steady_clock::now() - start > in_time) return are_over;
  }
}

/// Data of devices count as under way still: MPI may move those of messages that it could not withdraw.
bool MpiPort::abandon() noexcept {
  for (int i = 0; i < in_flight_; ++i) {
    MPI_Request& request = requests_[static_cast<std::size_t>(i)];
    if (request != MPI_REQUEST_NULL && pending_[static_cast<std::size_t>(i)].expected >= 0) api.Cancel(&request);
  }
  const bool are_over = end_receives();
  for (int i = 0; i < in_flight_; ++i) {
    MPI_Request& request = requests_[static_cast<std::size_t>(i)];
    int done = 0;
    if (request != MPI_REQUEST_NULL) api.Test(&request, &done, MPI_STATUS_IGNORE);
    if (request != MPI_REQUEST_NULL && done == 0) api.Request_free(&request);
  }
  in_flight_ = 0;
  std::ranges::fill(pieces_, 0);
  return are_over;
}

}  // namespace tutti::mpi
