#include "tutti/compressed_allreduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <vector>

#include "lib/core/call/arguments.hpp"
#include "tutti/allgather.hpp"
#include "tutti/allreduce.hpp"
#include "tutti/alltoall.hpp"

namespace tutti {
namespace {

/// A rank's part of a gradient: whole blocks, so that every part has scales of its own.
Count part_of(Count count, Compression compression, int ranks, const CompressionOptions& options) {
  const bool is_whole = compression == Compression::bf16 || compression == Compression::fp16;
  const std::int64_t block = is_whole ? 1 : options.block.value();
  const std::int64_t blocks = (count.value() + block - 1) / block;
  return Count{(blocks + ranks - 1) / ranks * block};
}

}  // namespace

class CompressedAllreduce::State {
 public:
  State(Count count, Compression compression, const Communicator& comm, const CompressionOptions& how,
        const Options& options)
      : site_{"CompressedAllreduce", comm.rank()},
        compression_(compression),
        how_(how),
        count_(checked_count(count, options)),
        ranks_(static_cast<std::size_t>(comm.size())),
        own_(static_cast<std::size_t>(comm.rank().value())) {
    require_same_settings(comm);
    const Count part = is_top() ? count : part_of(count, compression, comm.size(), how);
    part_ = static_cast<std::size_t>(part.value());
    part_bytes_ = static_cast<std::size_t>(compressed_size(compression, part, how).value());
    all_.resize(ranks_ * part_bytes_);
    error_.resize(count_);
    mine_.resize(part_bytes_);
    if (!is_top()) {
      parts_.resize(all_.size());
      sum_.resize(range(own_).size());
      sum_error_.resize(sum_.size());
      exchange_.emplace(plan_alltoall(parts_.data(), all_.data(), Count{part_bytes_}, Type::uint8, comm, options));
    }
    spread_.emplace(plan_allgather(mine_.data(), all_.data(), Count{part_bytes_}, Type::uint8, comm, options));
  }

  void start(std::span<float> gradient, float factor) {
    if (stage_ != Stage::none) throw StateError("tutti::CompressedAllreduce::start: a run is under way");
    if (gradient.size() != count_)
      refuse(site_, "gradient", fmt::format("{} elements", gradient.size()), fmt::format("{} elements", count_));
    gradient_ = gradient;
    factor_ = factor;
    if (is_top()) {
      compress(compression_, gradient, error_, mine_, how_);
      return begin(Stage::spread, *spread_);
    }
    for (std::size_t rank = 0; rank < ranks_; ++rank)
      compress(compression_, part(gradient, rank), part(std::span{error_}, rank), packed(std::span{parts_}, rank),
               how_);
    begin(Stage::exchange, *exchange_);
  }
  bool test() {
    if (stage_ == Stage::exchange && exchange_->test()) add_up();
    if (stage_ == Stage::spread && spread_->test()) unpack();
    return stage_ == Stage::none;
  }
  void wait() {
    if (stage_ == Stage::exchange) {
      exchange_->wait();
      add_up();
    }
    if (stage_ == Stage::spread) {
      spread_->wait();
      unpack();
    }
  }
  void reset() {
    if (stage_ != Stage::none) throw StateError("tutti::CompressedAllreduce::reset: a run is under way");
    std::ranges::fill(error_, 0.0F);
    std::ranges::fill(sum_error_, 0.0F);
  }
  [[nodiscard]] std::span<const float> error() const { return error_; }
  [[nodiscard]] std::span<const float> sum_error() const { return sum_error_; }
  [[nodiscard]] Bytes bytes_sent() const {
    return Bytes{(is_top() ? 1 : 2) * static_cast<std::int64_t>((ranks_ - 1) * part_bytes_)};
  }

 private:
  enum class Stage : std::uint8_t { none, exchange, spread };
  struct Range {
    std::size_t begin, end;
    [[nodiscard]] std::size_t size() const { return end - begin; }
  };

  [[nodiscard]] std::size_t checked_count(Count count, const Options& options) const {
    static_cast<void>(compressed_size(compression_, count, how_));
    if (options.stream) refuse(site_, "stream", "given", "no stream");
    return static_cast<std::size_t>(count.value());
  }
  /// Bytes of another format would be taken for this one's. Collective.
  void require_same_settings(const Communicator& comm) const {
    auto hash = static_cast<std::uint64_t>(compression_);
    const auto mix = [&hash](std::uint64_t value) { hash = (hash ^ value) * 0x9e3779b97f4a7c15U; };
    mix(count_);
    mix(static_cast<std::uint64_t>(how_.block.value()));
    mix(std::bit_cast<std::uint64_t>(how_.keep));
    mix(static_cast<std::uint64_t>(how_.rounding));
    const auto own = static_cast<std::int64_t>(hash >> 2U);
    std::array<std::int64_t, 2> least{own, -own};
    allreduce(std::span{least}, Op::min, comm);
    if (least[0] != -least[1])
      throw MismatchError(
          fmt::format("tutti::CompressedAllreduce on rank {}: ranks have other counts, formats, blocks, "
                      "shares to keep or rounding",
                      comm.rank().value()));
  }
  [[nodiscard]] bool is_top() const { return compression_ == Compression::top_k; }
  [[nodiscard]] Range range(std::size_t rank) const {
    return {std::min(count_, rank * part_), std::min(count_, (rank + 1) * part_)};
  }
  [[nodiscard]] std::span<float> part(std::span<float> of, std::size_t rank) const {
    return of.subspan(range(rank).begin, range(rank).size());
  }
  /// The bytes of a rank's part, which has fewer elements on the last ranks.
  [[nodiscard]] std::span<std::byte> packed(std::span<std::byte> all, std::size_t rank) const {
    const Bytes bytes = compressed_size(compression_, Count{is_top() ? count_ : range(rank).size()}, how_);
    return all.subspan(rank * part_bytes_, static_cast<std::size_t>(bytes.value()));
  }
  void begin(Stage stage, Plan& plan) {
    plan.start();
    stage_ = stage;
  }
  void scale(std::span<float> values) const {
    if (factor_ == 1) return;
    for (float& value : values)
      value *= factor_;
  }
  /// The parts of all ranks are there.
  void add_up() {
    stage_ = Stage::none;
    const std::span<std::byte> mine = std::span{mine_}.first(packed(std::span{all_}, own_).size());
    for (std::size_t rank = 0; rank < ranks_; ++rank)
      (rank == 0 ? decompress : decompress_add)(compression_, std::span{all_}.subspan(rank * part_bytes_, mine.size()),
                                                sum_, how_);
    scale(sum_);
    compress(compression_, sum_, sum_error_, mine, how_);
    begin(Stage::spread, *spread_);
  }
  /// The sums of all parts are there, or the elements of all ranks.
  void unpack() {
    stage_ = Stage::none;
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
      const std::span<const std::byte> its = packed(std::span{all_}, rank);
      if (is_top())
        (rank == 0 ? decompress : decompress_add)(compression_, its, gradient_, how_);
      else
        decompress(compression_, its, part(gradient_, rank), how_);
    }
    if (is_top()) scale(gradient_);
  }

  CallSite site_;
  Compression compression_;
  CompressionOptions how_;
  std::size_t count_, ranks_, own_;
  std::size_t part_ = 0, part_bytes_ = 0;  ///< Of the ranks that have most.
  std::vector<float> error_, sum_, sum_error_;
  std::vector<std::byte> parts_, all_, mine_;  ///< For each rank; of each rank; for all ranks.
  Stage stage_ = Stage::none;
  std::span<float> gradient_{};
  float factor_ = 1;
  std::optional<Plan> exchange_{}, spread_{};  ///< Last: they wait before their memory goes.
};

CompressedAllreduce::CompressedAllreduce(Count count, Compression compression, const Communicator& comm,
                                         const CompressionOptions& compression_options, const Options& options)
    : state_(std::make_unique<State>(count, compression, comm, compression_options, options)) {}
CompressedAllreduce::CompressedAllreduce(CompressedAllreduce&& other) noexcept = default;
CompressedAllreduce& CompressedAllreduce::operator=(CompressedAllreduce&& other) noexcept = default;
CompressedAllreduce::~CompressedAllreduce() = default;

CompressedAllreduce::State& CompressedAllreduce::state(std::string_view function) const {
  if (state_ == nullptr) throw StateError(fmt::format("tutti::CompressedAllreduce::{}: it was moved from", function));
  return *state_;
}

void CompressedAllreduce::run(std::span<float> gradient, float factor) {
  start(gradient, factor);
  wait();
}
void CompressedAllreduce::start(std::span<float> gradient, float factor) { state("start").start(gradient, factor); }
bool CompressedAllreduce::test() { return state("test").test(); }
void CompressedAllreduce::wait() { state("wait").wait(); }
std::span<const float> CompressedAllreduce::error() const { return state("error").error(); }
std::span<const float> CompressedAllreduce::sum_error() const { return state("sum_error").sum_error(); }
void CompressedAllreduce::reset() { state("reset").reset(); }
Bytes CompressedAllreduce::bytes_sent() const { return state("bytes_sent").bytes_sent(); }

}  // namespace tutti
