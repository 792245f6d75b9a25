#include "lib/core/transport/shm/segment/segment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <iterator>
#include <span>
#include <utility>

#include "lib/core/transport/shm/segment/descriptor_passing.hpp"

namespace tutti::shm {
namespace {

/// Ranks that are served at a time: connections that wait for rank 0 need room, of which systems grant 128 and more.
constexpr int ranks_at_a_time = 64;

/// The message of rank 0 to all others, as bytes: they are on the same node.
struct Offer {
  bool made = false;
  Nonce socket{};
  Nonce content{};  // the first bytes of the memory, to tell it from any other
};

/// Returns the error of a step; empty if it succeeded. A failure of one rank must not keep it from the calls in which
/// the others wait for it.
template <class Step>
std::string failure_of(Step step) {
  try {
    step();
    return {};
  } catch (const std::exception& error) {
    return error.what();
  }
}

void write_nonce(const SharedFile& file, const Nonce& nonce) {
  file.reserve(0, page_bytes());
  std::ranges::copy(nonce, file.map(0, page_bytes()).data());
}

void require_nonce(const SharedFile& file, const Nonce& nonce) {
  const Mapping page = file.map(0, page_bytes());
  if (!std::ranges::equal(nonce, std::span{page.data(), nonce.size()}))
    throw Error("the shared memory that came is another than rank 0's");
}

}  // namespace

Segment::Segment(const Bootstrap& node, std::int64_t bytes) : rank_(node.rank()), size_(node.size()), bytes_(bytes) {
  std::string failure;  // this rank's
  exchange(node, failure);
  agree(node, failure);
}

/// All ranks make the same calls of the bootstrap, even after a failure. A rank waits for others only in these calls,
/// where it may help messages along; a descriptor that it takes from its socket was sent before.
void Segment::exchange(const Bootstrap& node, std::string& failure) {
  Offer offer;
  Descriptor listener;
  SharedFile file;
  if (rank_ == 0) {
    failure = failure_of([&] {
      if (bytes_ <= first_free)
        throw Error(fmt::format("{} bytes of shared memory; allowed: more than {}", bytes_, first_free));
      file = SharedFile::make(bytes_, rank_);
      offer.content = random_nonce();
      write_nonce(file, offer.content);
      offer.socket = random_nonce();
      if (size_ > 1) listener = listen_under(offer.socket, ranks_at_a_time);
      file_ = std::move(file);
      offer.made = true;
    });
  }
  node.broadcast(&offer, sizeof offer, 0);
  if (!offer.made) return;
  for (int first = 1; first < size_; first += ranks_at_a_time) {
    Descriptor connection;
    if (rank_ >= first && rank_ < first + ranks_at_a_time)
      failure = failure_of([&] { connection = connect_to(offer.socket); });
    const int connected = connection.get() >= 0 ? 1 : 0;
    const int waiting = node.sum_on_first(connected);
    if (rank_ == 0 && failure.empty())
      failure = failure_of([&] { send_to_connected(listener, waiting, file_.descriptor()); });
    node.barrier();
    if (connected == 0) continue;
    failure = failure_of([&] {
      file = SharedFile{receive_file(connection), bytes_, rank_};
      require_nonce(file, offer.content);
      file_ = std::move(file);
    });
  }
}

/// Tells all ranks which of them are attached, and the first reason why one is not.
void Segment::agree(const Bootstrap& node, const std::string& failure) {
  struct Report {
    bool attached = false, has_failed = false;
  };
  const Report mine{.attached = file_.is_open(), .has_failed = !failure.empty()};
  std::vector<Report> reports(static_cast<std::size_t>(size_));
  node.gather_to_all(&mine, sizeof mine, reports.data());
  for (const Report& report : reports)
    attached_.push_back(report.attached ? 1 : 0);
  const auto failed = std::ranges::find(reports, true, &Report::has_failed);
  if (failed == reports.end()) return;
  const auto rank = static_cast<int>(failed - reports.begin());
  std::array<char, 256> text{};
  failure.copy(text.data(), text.size() - 1);
  node.broadcast(text.data(), text.size(), rank);
  why_not_ = fmt::format("rank {} of the node's {}: {}", rank, size_, text.data());
}

bool Segment::reaches_all() const { return std::ranges::count(attached_, 0) == 0; }

}  // namespace tutti::shm
