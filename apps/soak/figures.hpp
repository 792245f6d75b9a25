#pragma once
// The figures of a run: the resources that processes hold, whether they grow without bound, and the calls made. From
// each rank to rank 0.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/soak/calls.hpp"
#include "tutti/communicator.hpp"

namespace tutti::soak {

enum class Resource : std::uint8_t {
  heap,            ///< Bytes that the program and its libraries hold of malloc's.
  private_memory,  ///< Resident bytes of the process alone.
  shared_memory,   ///< Resident bytes that other processes may share: each counts them.
  mapped,          ///< Bytes of addresses.
  descriptors,
  threads,
  node_shm,  ///< Bytes of /dev/shm in use, by any program of the node.
};
inline constexpr std::size_t resource_count = 7;
inline constexpr std::string_view resource_names[] = {
    "heap in use", "private memory", "shared memory", "mapped addresses", "open descriptors", "threads", "/dev/shm"};
[[nodiscard]] constexpr bool is_bytes(Resource resource) {
  return resource != Resource::descriptors && resource != Resource::threads;
}

/// One number for each Resource.
using Resources = std::array<std::int64_t, resource_count>;

/// The resources of this process, now, once the C library has given back the memory that is free; node_shm only if
/// `reads_node`, else 0. What the system does not tell is 0.
[[nodiscard]] Resources read_resources(bool reads_node);

/// Samples of a run in the order of time, a bounded number of them: if they become too many, every other one is dropped
/// and half as many are taken from then on.
class History {
 public:
  /// `interval`: seconds from sample to sample, at first.
  explicit History(double interval = 0.1);

  [[nodiscard]] bool is_due(double seconds) const { return seconds >= due_; }
  void add(double seconds, const Resources& sample);
  [[nodiscard]] std::size_t size() const { return samples_.size(); }

  // All zeros if there are none.
  [[nodiscard]] Resources first() const { return samples_.empty() ? Resources{} : samples_.front(); }
  [[nodiscard]] Resources last() const { return last_; }
  [[nodiscard]] Resources largest() const { return largest_; }

  /// Medians of the second and of the last quarter of the samples.
  struct Quarters {
    std::int64_t second = 0, last = 0;
    [[nodiscard]] std::int64_t growth() const { return last - second; }
  };
  /// Nothing if there are fewer than least_samples.
  [[nodiscard]] std::optional<Quarters> quarters(Resource resource) const;
  static constexpr std::size_t least_samples = 16, most_samples = 512;

 private:
  double interval_, due_ = 0;
  std::vector<Resources> samples_;
  Resources last_{}, largest_{};
};

/// Whether that is growth without bound, and no wavering: more than a slack, which depends on the resource and on how
/// much of it there was. /dev/shm never is, because other programs use it, too.
[[nodiscard]] bool grows(Resource resource, const History::Quarters& quarters);
/// The slack in words: "2 MiB and 3 %".
[[nodiscard]] std::string_view slack_text(Resource resource);

/// "12.3 MiB" or "17". `shows_sign`: with + or -.
enum class Sign : std::uint8_t { of_negative, always };
[[nodiscard]] std::string amount_text(Resource resource, std::int64_t amount, Sign sign = Sign::of_negative);

/// The calls of one name.
struct CallTally {
  std::int64_t calls = 0;  ///< Counted on the first rank of each communicator.
  std::int64_t bytes = 0;  ///< The size of the results on this rank.
};

/// The work of a rank.
struct Tally {
  std::array<CallTally, name_count> of_names{};  ///< In the order of call_names().
  std::int64_t wrong = 0;                        ///< Results on this rank.
  Tally& operator+=(const Tally& other);
};

/// Sent by one rank.
struct SentMessages {
  std::int64_t messages = 0, bytes = 0;
};

/// The figures of one rank, which ranks hand over as bytes.
struct RankFigures {
  Tally tally;
  std::array<SentMessages, 3> sent{};  ///< Through shared memory, the MPI, UCX.
  std::int64_t node = 0;
  Resources first{}, last{}, largest{};
  std::int64_t samples = 0;
  std::array<History::Quarters, resource_count> quarters{};  ///< Without meaning if there are too few samples.

  [[nodiscard]] bool has_quarters() const { return samples >= static_cast<std::int64_t>(History::least_samples); }
  /// Growth without bound.
  [[nodiscard]] bool grows(Resource resource) const {
    return has_quarters() && soak::grows(resource, quarters[static_cast<std::size_t>(resource)]);
  }
  void add(const MessageCounters& counters);
  void add(const History& history);
};
inline constexpr std::string_view sent_names[] = {"shm", "mpi", "ucx"};  ///< The entries of RankFigures::sent.

/// Sums of some ranks. Quarters and samples: none if one of them has none.
[[nodiscard]] RankFigures sum_of(const std::vector<RankFigures>& ranks);

/// Collective over MPI_COMM_WORLD. Empty on all ranks but the first.
[[nodiscard]] std::vector<RankFigures> gathered(const RankFigures& mine);

}  // namespace tutti::soak
