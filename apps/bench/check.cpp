#include "apps/bench/check.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "apps/bench/pattern.hpp"

namespace tutti::bench {

namespace {

/// The patterns of a call, each made when it is first needed.
class Patterns {
 public:
  Patterns(const Call& call, bool reduces)
      // Where nothing is combined, the values of max differ most.
      : type_(call.type), op_(reduces ? call.op : Op::max), ranks_(call.ranks()) {}

  const Pattern& operator[](const Values& values) {
    const auto [found, is_new] = made_.try_emplace({values.kind, values.rank}, nullptr);
    if (is_new) found->second = std::make_unique<Pattern>(make(values));
    return *found->second;
  }
  [[nodiscard]] double tolerance(const Values& values) const {
    return values.kind == Values::Kind::reduced ? rounding_tolerance(type_, op_) : 0;
  }

 private:
  [[nodiscard]] Pattern make(const Values& values) const {
    if (values.kind == Values::Kind::input) return input_pattern(type_, op_, values.rank, ranks_);
    if (values.kind == Values::Kind::reduced) return reduced_pattern(type_, op_, ranks_, values.rank);
    return untouched_pattern(type_);
  }

  Type type_;
  Op op_;
  int ranks_;
  std::map<std::pair<Values::Kind, int>, std::unique_ptr<Pattern>> made_;
};

/// The bytes that a buffer should hold: pieces that cover it, painted one over the other.
class Picture {
 public:
  Picture(std::span<std::byte> buffer, Type type) : buffer_(buffer), element_(size_of(type).value()) {
    pieces_.push_back({Count{0}, Count{static_cast<std::int64_t>(buffer.size()) / element_}, Values{}});
  }

  /// The piece's offset counts from `base`, which need not lie in this buffer: then nothing happens.
  void paint(const std::byte* base, Piece piece) {
    if (!holds(base) || piece.count == Count{0}) return;
    piece.offset += Count{(base - buffer_.data()) / element_};
    const Count end = piece.offset + piece.count;
    std::vector<Piece> cut{piece};
    for (const Piece& old : pieces_) {
      const Count before = std::min(old.count, std::max(Count{0}, piece.offset - old.offset));
      const Count hidden = std::min(old.count, std::max(before, end - old.offset));
      if (before > Count{0}) cut.push_back({old.offset, before, old.values, old.position});
      if (hidden < old.count)
        cut.push_back({old.offset + hidden, old.count - hidden, old.values, old.position + hidden});
    }
    pieces_ = std::move(cut);
  }

  void write(const BenchMemory& memory, Patterns& patterns) const {
    for (const Piece& piece : pieces_) {
      patterns[piece.values].write_to(memory, bytes_of(piece), piece.position.value());
    }
  }

  std::int64_t differences(const BenchMemory& memory, Patterns& patterns) const {
    std::int64_t different = 0;
    for (const Piece& piece : pieces_) {
      different += patterns[piece.values].differences(memory, bytes_of(piece), patterns.tolerance(piece.values),
                                                      piece.position.value());
    }
    return different;
  }

 private:
  [[nodiscard]] bool holds(const std::byte* place) const {
    return !std::less<>{}(place, buffer_.data()) && std::less<>{}(place, buffer_.data() + buffer_.size());
  }
  [[nodiscard]] std::span<std::byte> bytes_of(const Piece& piece) const {
    return buffer_.subspan(static_cast<std::size_t>(piece.offset.value() * element_),
                           static_cast<std::size_t>(piece.count.value() * element_));
  }

  std::span<std::byte> buffer_;
  std::int64_t element_;
  std::vector<Piece> pieces_;
};

}  // namespace

std::int64_t wrong_elements(const BenchCollective& collective, const Buffers& buffers, const Call& call,
                            Repeater& repeater) {
  const BenchMemory& memory = buffers.memory();
  Patterns patterns{call, collective.reduces()};
  const Piece input{Count{0}, collective.layout(call).input, Values::input_of(call.rank())};
  std::vector<Picture> pictures;
  for (const std::span<std::byte> buffer : buffers.used_by(call)) {
    pictures.emplace_back(buffer, call.type).paint(call.in, input);
    pictures.back().write(memory, patterns);
  }
  repeater.run(1);
  std::int64_t wrong = 0;
  for (Picture& picture : pictures) {
    for (const Piece& piece : collective.expected(call)) {
      picture.paint(call.out, piece);
    }
    wrong += picture.differences(memory, patterns);
  }
  return wrong + (collective.misbehaviour == nullptr ? 0 : collective.misbehaviour(call, repeater));
}

}  // namespace tutti::bench
