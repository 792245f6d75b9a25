#pragma once
// What can be measured: the table of collectives, each as Tutti's call and as MPI's own.

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "apps/bench/memory.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/communicator.hpp"
#include "tutti/datatype.hpp"
#include "tutti/op.hpp"

namespace tutti::bench {

enum class Mode { blocking, nonblocking, persistent };
inline constexpr std::string_view mode_names[] = {"blocking", "nonblocking", "persistent"};  ///< Indexed by Mode.
[[nodiscard]] constexpr std::string_view to_string(Mode mode) { return mode_names[static_cast<int>(mode)]; }

/// One call: what is done, with which buffers. `in` and `out` are the same for a call in place.
struct Call {
  const Communicator* comm;
  const BenchMemory* memory;
  std::byte *in, *out;
  Count count;
  Type type;
  Op op;
  Rank root;
  std::string_view algorithm;  ///< Empty: Tutti chooses.
};

/// Makes the same call again and again. The loop is in here, so that it costs a call nothing.
class Repeater {
 public:
  virtual ~Repeater() = default;
  virtual void run(int calls) = 0;
};

/// A repeater of `once()`.
template <class Once>
[[nodiscard]] std::unique_ptr<Repeater> repeater(Once once) {
  class Loop : public Repeater {
   public:
    explicit Loop(Once body) : once_(std::move(body)) {}
    void run(int calls) override {
      for (int i = 0; i < calls; ++i) {
        once_();
      }
    }

   private:
    Once once_;
  };
  return std::make_unique<Loop>(std::move(once));
}

/// MPI's own way of making a call, which may lack the mode asked for.
struct PeerCall {
  std::unique_ptr<Repeater> repeater;
  Mode mode;
};

/// A collective. To add one: a file with these functions and its line in collectives.cpp.
struct BenchCollective {
  Collective collective;
  /// Elements of the buffers for a size of `count` elements, as the documentation of the collective defines its size.
  Count (*input_count)(Count count, int ranks);
  Count (*output_count)(Count count, int ranks);
  /// Bus bandwidth over algorithm bandwidth: what a link carries, whatever the number of ranks.
  double (*busbw_factor)(int ranks);
  std::string (*algorithm)(const Call& call);
  std::unique_ptr<Repeater> (*ours)(const Call& call, Mode mode);
  /// Whether MPI has this call for the type and operation.
  bool (*peer_has)(Type type, const Op& op);
  /// MPI's own; nothing if it cannot take the count.
  std::optional<PeerCall> (*peer)(const Call& call, Mode mode);
  /// Makes `repeater` do one call on values that depend on rank and position; elements that are wrong on this rank.
  std::int64_t (*check)(const Call& call, Repeater& repeater);
};

[[nodiscard]] std::span<const BenchCollective* const> collectives();

/// An operation by its name in the table; nothing if there is none. The scaled sum halves.
[[nodiscard]] std::optional<Op> op_named(std::string_view name);
inline constexpr std::string_view op_names[] = {"sum",  "prod", "min",  "max",  "avg", "scaled_sum",
                                                "land", "lor",  "lxor", "band", "bor", "bxor"};

}  // namespace tutti::bench
