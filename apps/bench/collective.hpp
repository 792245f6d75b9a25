#pragma once
// The collectives that can be measured, in a table: each as Tutti's call and as MPI's own.

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/bench/computation.hpp"
#include "apps/bench/values.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/call.hpp"
#include "tutti/communicator.hpp"
#include "tutti/datatype.hpp"
#include "tutti/op.hpp"
#include "tutti/schedule.hpp"

namespace tutti::bench {

/// stream: calls are put into a stream of a device, in whose order they run; stream_plan: persistent ones.
enum class Mode { blocking, nonblocking, persistent, stream, stream_plan };
inline constexpr std::string_view mode_names[] = {"blocking", "nonblocking", "persistent", "stream",
                                                  "stream-plan"};  ///< One for each Mode.
[[nodiscard]] constexpr std::string_view to_string(Mode mode) { return mode_names[static_cast<int>(mode)]; }
[[nodiscard]] constexpr bool is_in_stream(std::string_view mode) {
  return mode == to_string(Mode::stream) || mode == to_string(Mode::stream_plan);
}

enum class Divided {
  not_at_all,
  evenly,
  unevenly,          ///< Alike on all ranks.
  unevenly_by_pair,  ///< Block j of rank i as large as block i of rank j.
};

/// Blocks of a buffer, one for each rank, one after the other. Uneven ones have between 1/2 and 3/2 of the mean: they
/// grow from rank 0 to the last by equal steps; by pair, they begin on rank `of` with its number of steps.
class Division {
 public:
  /// The division that rank `of` has; `total` is a multiple of `ranks`.
  Division(Divided how, Count total, int ranks, int of);

  [[nodiscard]] Count count(int rank) const { return counts_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] Count offset(int rank) const { return offsets_[static_cast<std::size_t>(rank)]; }
  /// The blocks as Tutti takes them.
  [[nodiscard]] BlockList list() const { return {counts_, offsets_}; }
  /// The blocks as MPI takes them; only if the total fits an int.
  [[nodiscard]] const int* mpi_counts() const { return mpi_counts_.data(); }
  [[nodiscard]] const int* mpi_offsets() const { return mpi_offsets_.data(); }

 private:
  std::vector<Count> counts_, offsets_;
  std::vector<int> mpi_counts_, mpi_offsets_;
};

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
  std::string_view algorithm;                ///< Empty: Tutti chooses.
  MPI_Comm mpi = MPI_COMM_WORLD;             ///< The ranks of `comm`, for MPI's own calls.
  int list = 0;                              ///< Buffers of the call; 0: one, by the ordinary function.
  Bytes in_step{}, out_step{};               ///< From one buffer of the list to the next.
  const Computation* computation = nullptr;  ///< Between the start of a call and its wait; nullptr: nothing.
  std::optional<Type> accumulate{};          ///< As Options::accumulate.

  [[nodiscard]] Options options() const { return {.algorithm = algorithm, .accumulate = accumulate}; }
  [[nodiscard]] int rank() const { return comm->rank().value(); }
  [[nodiscard]] int ranks() const { return comm->size(); }
  [[nodiscard]] bool is_root() const { return comm->rank() == root; }
  [[nodiscard]] Rank next() const { return Rank{(rank() + 1) % ranks()}; }
  [[nodiscard]] Rank previous() const { return Rank{(rank() + ranks() - 1) % ranks()}; }
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

/// Elements of the output from `offset` on, and where they come from.
struct Piece {
  Count offset, count;
  Source from;
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
  std::string algorithm{};  ///< If it is Tutti by other rules.
};

enum class Placement : bool { out_of_place, in_place };

/// A collective. To add one: a line in the table of collectives.cpp, and a case in layout() and expected().
struct BenchCollective {
  std::string_view name;
  /// The collective whose algorithms it runs; nothing: messages that are part of no collective, of which each rank
  /// sends one to the next and receives one from the rank before.
  std::optional<Collective> collective;
  /// How its larger buffer is divided among the ranks.
  Divided divided;
  std::string (*algorithm)(const Call& call);
  std::unique_ptr<Repeater> (*ours)(const Call& call, Mode mode);
  PeerCall (*peer)(const Call& call, Mode mode);

  [[nodiscard]] bool has_data() const { return collective != Collective::barrier; }
  /// Where its input may be. A broadcast has one buffer on each rank, as in MPI.
  [[nodiscard]] std::vector<Placement> placements() const {
    if (collective == Collective::broadcast) return {Placement::in_place};
    if (!collective || !has_data()) return {Placement::out_of_place};
    return {Placement::out_of_place, Placement::in_place};
  }
  [[nodiscard]] bool has_stream_calls() const { return collective.has_value(); }
  [[nodiscard]] bool reduces() const { return collective && tutti::reduces(*collective); }
  [[nodiscard]] bool has_root() const { return collective && tutti::has_root(*collective); }
  [[nodiscard]] bool is_prefix() const { return collective == Collective::scan || collective == Collective::exscan; }
  /// Whether some ranks need nothing from some others, so that they may leave before those have come.
  [[nodiscard]] bool is_one_way() const { return has_root() || is_prefix(); }

  /// Bus bandwidth over algorithm bandwidth: the data that a link carries, as the NCCL tests define it.
  [[nodiscard]] double busbw_factor(int ranks) const;
  /// The layout of this rank's buffers; looks at none of them.
  [[nodiscard]] Layout layout(const Call& call) const;
  /// The contents of this rank's output afterwards; the rest of both buffers must stay as it was.
  [[nodiscard]] std::vector<Piece> expected(const Call& call) const;
};

[[nodiscard]] std::span<const BenchCollective> collectives();
/// The collective of that name, or nullptr.
[[nodiscard]] const BenchCollective* collective_named(std::string_view name);

/// An operation by its name in the table; nothing if there is none. The scaled sum halves.
[[nodiscard]] std::optional<Op> op_named(std::string_view name);
inline constexpr std::string_view op_names[] = {"sum",  "prod", "min",  "max",  "avg", "exact_sum", "scaled_sum",
                                                "land", "lor",  "lxor", "band", "bor", "bxor"};

}  // namespace tutti::bench
