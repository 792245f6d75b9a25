// Checks of a call's results, element by element.
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <thread>

#include "apps/bench/buffers.hpp"
#include "apps/bench/lists.hpp"
#include "lib/core/transport/mpi/check.hpp"

namespace tutti::bench {

namespace {

/// What elements should hold: values that no rank has, an input as it is, or a result.
enum class Contents { untouched, input, result };

/// The bytes that a buffer should hold: pieces that cover it, painted one over the other.
class Picture {
 public:
  Picture(std::span<std::byte> buffer, const Operands& operands, const BenchMemory& memory)
      : buffer_(buffer), operands_(operands), memory_(memory), element_(size_of(operands.type).value()) {
    pieces_.push_back(
        {{Count{0}, Count{static_cast<std::int64_t>(buffer.size()) / element_}, {}}, Contents::untouched});
  }

  /// The piece's offset counts from `base`, which need not lie in this buffer: then nothing happens.
  void paint(const std::byte* base, Piece piece, Contents contents) {
    if (!holds(base) || piece.count == Count{0}) return;
    piece.offset += Count{(base - buffer_.data()) / element_};
    const Count end = piece.offset + piece.count;
    std::vector<Painted> cut{{piece, contents}};
    for (const Painted& old : pieces_) {
      const Count before = std::min(old.count, std::max(Count{0}, piece.offset - old.offset));
      const Count hidden = std::min(old.count, std::max(before, end - old.offset));
      if (before > Count{0}) cut.push_back(old.part(Count{0}, before));
      if (hidden < old.count) cut.push_back(old.part(hidden, old.count));
    }
    pieces_ = std::move(cut);
  }

  void write() const {
    for_each_part([this](std::span<std::byte> part, const std::vector<std::byte>& values) {
      memory_.write(part.data(), std::span{values}.first(part.size()));
    });
  }

  [[nodiscard]] std::int64_t differences() const {
    std::int64_t different = 0;
    std::vector<std::byte> found;
    for_each_part([&](std::span<std::byte> part, const std::vector<std::byte>& values) {
      found.resize(part.size());
      memory_.read(part.data(), found);
      if (std::memcmp(found.data(), values.data(), found.size()) == 0) return;
      const auto element = static_cast<std::size_t>(element_);
      for (std::size_t at = 0; at < found.size(); at += element)
        different += std::memcmp(&found[at], &values[at], element) == 0 ? 0 : 1;
    });
    return different;
  }

 private:
  struct Painted : Piece {
    Contents contents;
    /// Its elements from `begin` to `end`.
    [[nodiscard]] Painted part(Count begin, Count end) const {
      return {{offset + begin, end - begin, {from.first_rank, from.ranks, from.first + begin.value()}}, contents};
    }
  };

  [[nodiscard]] bool holds(const std::byte* place) const {
    return !std::less<>{}(place, buffer_.data()) && std::less<>{}(place, buffer_.data() + buffer_.size());
  }

  /// The values of a piece, or as many as recur.
  [[nodiscard]] std::vector<std::byte> values_of(const Painted& piece) const {
    constexpr std::int64_t at_once = 64 * period;
    std::vector<std::byte> values(static_cast<std::size_t>(std::min(piece.count.value(), at_once) * element_));
    if (piece.contents == Contents::result) {
      write_result(operands_, piece.from, values);
    } else if (piece.contents == Contents::input) {
      write_input(operands_, piece.from.first_rank, piece.from.first, values);
    } else {
      Operands others = operands_;
      others.combines = false;
      write_input(others, -1, piece.from.first, values);
    }
    return values;
  }

  /// Calls do_part(bytes, values that begin with those of the bytes) for all of the buffer.
  template <class Do>
  void for_each_part(Do do_part) const {
    for (const Painted& piece : pieces_) {
      const std::vector<std::byte> values = values_of(piece);
      std::span left = buffer_.subspan(static_cast<std::size_t>(piece.offset.value() * element_),
                                       static_cast<std::size_t>(piece.count.value() * element_));
      while (!left.empty()) {
        const std::span part = left.first(std::min(left.size(), values.size()));
        do_part(part, values);
        left = left.subspan(part.size());
      }
    }
  }

  std::span<std::byte> buffer_;
  Operands operands_;
  const BenchMemory& memory_;
  std::int64_t element_;
  std::vector<Painted> pieces_;
};

/// Barriers that a rank leaves before the last one has come. Each rank is late once. Clocks can be compared on one node
/// only.
std::int64_t barriers_left_too_early(const Call& call, Repeater& repeater) {
  using Clock = std::chrono::steady_clock;
  std::int64_t too_early = 0;
  for (int late = 0; late < call.ranks(); ++late) {
    if (call.rank() == late) std::this_thread::sleep_for(std::chrono::milliseconds{1});
    auto came = static_cast<std::int64_t>(Clock::now().time_since_epoch().count());
    repeater.run(1);
    const auto left = static_cast<std::int64_t>(Clock::now().time_since_epoch().count());
    mpi::check(MPI_Allreduce(MPI_IN_PLACE, &came, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD), "MPI_Allreduce");
    if (call.comm->node_count() == 1 && left < came) ++too_early;
  }
  return too_early;
}

}  // namespace

std::int64_t wrong_elements(const BenchCollective& collective, const Buffers& buffers, const Call& call,
                            Repeater& repeater) {
  // Values that the MPI's own reductions take, too, as their calls may be the ones that are checked.
  const Operands operands{.type = call.type,
                          .op = call.op,
                          .combines = collective.reduces(),
                          .ranks = call.ranks(),
                          .by_mpi = true,
                          .key = 0};
  const Piece input{Count{0}, collective.layout(call).input, {call.rank(), 1, 0}};
  const std::vector<Call> calls = calls_of(call);
  // Buffers of a list hold other values than those before.
  const auto of_buffer = [](Piece piece, std::size_t buffer) {
    piece.from.first += static_cast<std::int64_t>(buffer);
    return piece;
  };
  std::vector<Picture> pictures;
  for (const std::span<std::byte> buffer : buffers.used_by(call)) {
    Picture& picture = pictures.emplace_back(buffer, operands, buffers.memory());
    for (std::size_t i = 0; i < calls.size(); ++i)
      picture.paint(calls[i].in, of_buffer(input, i), Contents::input);
    pictures.back().write();
  }
  repeater.run(1);
  std::int64_t wrong = 0;
  for (Picture& picture : pictures) {
    for (std::size_t i = 0; i < calls.size(); ++i) {
      for (const Piece& piece : collective.expected(calls[i]))
        picture.paint(calls[i].out, of_buffer(piece, i), Contents::result);
    }
    wrong += picture.differences();
  }
  return wrong + (collective.has_data() ? 0 : barriers_left_too_early(call, repeater));
}

}  // namespace tutti::bench
