#pragma once
// The collectives that can be measured, in a table: each as Tutti's call and as MPI's own.

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/bench/division.hpp"
#include "apps/bench/memory.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/communicator.hpp"
#include "tutti/datatype.hpp"
#include "tutti/op.hpp"

namespace tutti::bench {

/// stream: calls are put into a stream of a device, in whose order they run; stream_plan: persistent ones.
enum class Mode { blocking, nonblocking, persistent, stream, stream_plan };
inline constexpr std::string_view mode_names[] = {"blocking", "nonblocking", "persistent", "stream",
                                                  "stream-plan"};  ///< By Mode.
[[nodiscard]] constexpr std::string_view to_string(Mode mode) { return mode_names[static_cast<int>(mode)]; }
[[nodiscard]] constexpr bool is_in_stream(std::string_view mode) {
  return mode == to_string(Mode::stream) || mode == to_string(Mode::stream_plan);
}

/// One call on one rank: its arguments and its buffers.
struct Call {
  const Communicator* comm;
  std::byte *in, *out;
  bool is_in_place;  ///< On this rank input and output share memory.
  Count count;       ///< Elements of the larger buffer, over all ranks: the size.
  std::shared_ptr<const Division> blocks;
  Type type;
  Op op;
  Rank root;
  std::string_view algorithm;  ///< Empty: Tutti chooses.

  [[nodiscard]] int rank() const { return comm->rank().value(); }
  [[nodiscard]] int ranks() const { return comm->size(); }
  [[nodiscard]] bool is_root() const { return comm->rank() == root; }
  /// This rank's block; that of every rank if blocks are equal.
  [[nodiscard]] Count block() const { return blocks->count(rank()); }
};

/// The buffers of one rank, in elements.
struct Layout {
  Count input, output;
  /// In place: where in the output the input starts, negative if the output lies inside the input. Nothing: this rank
  /// has no call in place.
  std::optional<Count> place;
};

/// The contents of elements after a call, or before it.
struct Values {
  enum class Kind { untouched, input, reduced };
  Kind kind = Kind::untouched;
  int rank = 0;  ///< input: its rank; reduced: of the ranks below this one.

  static Values input_of(int rank) { return {Kind::input, rank}; }
  static Values reduced_over(int ranks) { return {Kind::reduced, ranks}; }
};
/// Elements of the output from `offset` on: values from `position` on.
struct Piece {
  Count offset, count;
  Values values;
  Count position{};
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
  std::string_view name;
  /// Whose algorithms it runs; nothing: messages that are part of no collective.
  std::optional<Collective> collective;
  /// How its larger buffer is divided among the ranks.
  Divided divided = Divided::not_at_all;
  bool has_out_of_place = true, has_in_place = true;
  bool has_data = true, has_stream_calls = true;
  /// Bus bandwidth over algorithm bandwidth: the data that a link carries, for any number of ranks.
  double (*busbw_factor)(int ranks);
  /// Of this rank; looks at no buffer of the call.
  Layout (*layout)(const Call& call);
  std::string (*algorithm)(const Call& call);
  std::unique_ptr<Repeater> (*ours)(const Call& call, Mode mode);
  PeerCall (*peer)(const Call& call, Mode mode);
  /// The contents of this rank's output afterwards; the rest of both buffers must stay as it was.
  std::vector<Piece> (*expected)(const Call& call);
  /// Faults beyond the elements, on this rank; nullptr: there can be none.
  std::int64_t (*misbehaviour)(const Call& call, Repeater& repeater) = nullptr;

  [[nodiscard]] bool reduces() const { return collective && tutti::reduces(*collective); }
  [[nodiscard]] bool has_root() const { return collective && tutti::has_root(*collective); }
  /// Whether some ranks need nothing from some others, so that they may leave before those have come.
  [[nodiscard]] bool is_one_way() const {
    return has_root() || collective == Collective::scan || collective == Collective::exscan;
  }
};

[[nodiscard]] std::span<const BenchCollective* const> collectives();
/// The collective of that name, or nullptr.
[[nodiscard]] const BenchCollective* collective_named(std::string_view name);

/// An operation by its name in the table; nothing if there is none. The scaled sum halves.
[[nodiscard]] std::optional<Op> op_named(std::string_view name);
inline constexpr std::string_view op_names[] = {"sum",  "prod", "min",  "max",  "avg", "scaled_sum",
                                                "land", "lor",  "lxor", "band", "bor", "bxor"};

}  // namespace tutti::bench
