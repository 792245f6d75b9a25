#include "tutti/compressed_allreduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <exception>
#include <optional>
#include <type_traits>

#include "lib/core/call/arguments.hpp"
#include "lib/core/call/compressor.hpp"
#include "tutti/allgather.hpp"
#include "tutti/allreduce.hpp"
#include "tutti/alltoall.hpp"

namespace tutti {
namespace {

using detail::Compressor;
using detail::CutMemory;

/// A rank's part of a gradient: whole blocks, so that every part has scales of its own, or four elements, which devices
/// take at a time. top_k: all of it.
Count part_of(Count count, Compression compression, int ranks, const CompressionOptions& options) {
  if (compression == Compression::top_k) return count;
  const bool is_whole = compression == Compression::bf16 || compression == Compression::fp16;
  const std::int64_t block = is_whole ? 4 : options.block.value();
  const std::int64_t blocks = (count.value() + block - 1) / block;
  return Count{(blocks + ranks - 1) / ranks * block};
}

/// The arguments of this rank; throws ArgumentError.
void require_own(const CallSite& site, Count count, Compression compression, const CompressionOptions& how,
                 const Options& options) {
  static_cast<void>(compressed_size(compression, count, how));
  if (options.stream) refuse(site, "stream", "given", "no stream");
  if (options.accumulate) refuse(site, "accumulate", "given", "none: parts are added in fp32");
}

/// Bytes of another format would be taken for this one's. Collective: if this rank's own arguments are wrong, the
/// others learn that they have others. Throws ArgumentError, or MismatchError.
void require_same_settings(const CallSite& site, Count count, Compression compression, const CompressionOptions& how,
                           const Options& options, const Communicator& comm) {
  std::exception_ptr wrong;
  try {
    require_own(site, count, compression, how, options);
  } catch (const ArgumentError&) {
    wrong = std::current_exception();
  }
  auto hash = static_cast<std::uint64_t>(compression);
  const auto mix = [&hash](std::uint64_t value) { hash = (hash ^ value) * 0x9e3779b97f4a7c15U; };
  mix(static_cast<std::uint64_t>(count.value()));
  mix(static_cast<std::uint64_t>(how.block.value()));
  mix(std::bit_cast<std::uint64_t>(how.keep));
  mix(static_cast<std::uint64_t>(how.rounding));
  mix(wrong == nullptr ? 0 : 1);
  const auto own = static_cast<std::int64_t>(hash >> 2U);
  std::array<std::int64_t, 2> least{own, -own};
  allreduce(std::span{least}, Op::min, comm);
  if (wrong != nullptr) std::rethrow_exception(wrong);
  if (least[0] != -least[1])
    throw MismatchError(
        fmt::format("tutti::CompressedAllreduce on rank {}: ranks have other counts, formats, blocks, "
                    "shares to keep or rounding, or wrong ones",
                    comm.rank().value()));
}

}  // namespace

class CompressedAllreduce::State {
 public:
  /// Collective.
  static std::unique_ptr<State> make(Count count, Compression compression, const Communicator& comm,
                                     const CompressionOptions& how, const Options& options, bool is_on_device) {
    require_same_settings({"CompressedAllreduce", comm.rank()}, count, compression, how, options, comm);
    return std::make_unique<State>(count, compression, comm, how, options, is_on_device);
  }
  State(Count count, Compression compression, const Communicator& comm, const CompressionOptions& how,
        const Options& options, bool is_on_device)
      : site_{"CompressedAllreduce", comm.rank()},
        with_(site_, compression, how, is_on_device),
        memory_(is_on_device),
        count_(static_cast<std::size_t>(count.value())),
        ranks_(static_cast<std::size_t>(comm.size())),
        own_(static_cast<std::size_t>(comm.rank().value())),
        part_(static_cast<std::size_t>(part_of(count, compression, comm.size(), how).value())),
        part_bytes_((with_.bytes_of(part_) + 7) / 8 * 8) {  // so that each is aligned
    const bool adds_parts = !with_.is_top();
    const std::size_t own = adds_parts ? range(own_).size() : 0, sent = ranks_ * part_bytes_;
    const std::size_t error = memory_.place(count_ * sizeof(float)), sum = memory_.place(own * sizeof(float)),
                      sum_error = memory_.place(own * sizeof(float)), parts = memory_.place(adds_parts ? sent : 0),
                      all = memory_.place(sent), mine = memory_.place(part_bytes_);
    memory_.allocate();
    error_ = memory_.array<float>(error, count_);
    sum_ = memory_.array<float>(sum, own);
    sum_error_ = memory_.array<float>(sum_error, own);
    parts_ = memory_.array<std::uint8_t>(parts, adds_parts ? sent : 0);
    all_ = memory_.array<std::uint8_t>(all, sent);
    mine_ = memory_.array<std::uint8_t>(mine, part_bytes_);
    if (adds_parts)
      exchange_.emplace(plan_alltoall(parts_.data(), all_.data(), Count{part_bytes_}, Type::uint8, comm, options));
    spread_.emplace(plan_allgather(mine_.data(), all_.data(), Count{part_bytes_}, Type::uint8, comm, options));
    reset();
  }

  void start(std::span<float> gradient, float factor) {
    if (stage_ != Stage::none) throw StateError("tutti::CompressedAllreduce::start: a run is under way");
    if (gradient.size() != count_)
      refuse(site_, "gradient", fmt::format("{} elements", gradient.size()), fmt::format("{} elements", count_));
    with_.require_like(mine_.data(), gradient);
    gradient_ = gradient.data();
    factor_ = factor;
    with_.work(mine_.data(), [&](CUstream_st* stream) {
      if (with_.is_top()) return with_.pack(gradient_, count_, error_.data(), mine_.data(), stream);
      for (std::size_t rank = 0; rank < ranks_; ++rank)
        with_.pack(gradient_ + range(rank).begin, range(rank).size(), error_.data() + range(rank).begin,
                   parts_.data() + rank * part_bytes_, stream);
    });
    if (with_.is_top())
      begin(Stage::spread, *spread_);
    else
      begin(Stage::exchange, *exchange_);
  }
  bool test() {
    if (stage_ == Stage::exchange && exchange_->test()) add_up();
    if (stage_ == Stage::spread && spread_->test()) unpack_all();
    return stage_ == Stage::none;
  }
  void go_on() {
    if (stage_ != Stage::exchange) return;
    exchange_->wait();
    add_up();
  }
  void wait() {
    go_on();
    if (stage_ == Stage::spread) {
      spread_->wait();
      unpack_all();
    }
  }
  void reset() {
    if (stage_ != Stage::none) throw StateError("tutti::CompressedAllreduce::reset: a run is under way");
    with_.clear(error_);
    with_.clear(sum_error_);
  }
  template <class Span>
  [[nodiscard]] Span error(std::string_view function) const {
    return shown<Span>(error_, function);
  }
  template <class Span>
  [[nodiscard]] Span sum_error(std::string_view function) const {
    return shown<Span>(sum_error_, function);
  }
  [[nodiscard]] Bytes bytes_sent() const {
    return Bytes{(with_.is_top() ? 1 : 2) * static_cast<std::int64_t>((ranks_ - 1) * part_bytes_)};
  }

 private:
  enum class Stage : std::uint8_t { none, exchange, spread };
  struct Range {
    std::size_t begin, end;
    [[nodiscard]] std::size_t size() const { return end - begin; }
  };

  /// As memory of the host or of a device.
  template <class Span>
  [[nodiscard]] Span shown(std::span<const float> values, std::string_view function) const {
    constexpr bool is_on_device = std::is_same_v<Span, DeviceSpan<const float>>;
    if (is_on_device == with_.is_on_device()) return {values.data(), values.size()};
    throw StateError(fmt::format("tutti::CompressedAllreduce::{}: the memory is that of {}", function,
                                 is_on_device ? "the host" : "a device"));
  }

  [[nodiscard]] Range range(std::size_t rank) const {
    return {std::min(count_, rank * part_), std::min(count_, (rank + 1) * part_)};
  }
  void begin(Stage stage, Plan& plan) {
    plan.start();
    stage_ = stage;
  }
  /// The parts of all ranks are there.
  void add_up() {
    stage_ = Stage::none;
    with_.work(mine_.data(), [&](CUstream_st* stream) {
      for (std::size_t rank = 0; rank < ranks_; ++rank)
        with_.unpack(all_.data() + rank * part_bytes_, sum_.data(), sum_.size(), rank > 0, stream);
      with_.scale(sum_.data(), sum_.size(), factor_, stream);
      with_.pack(sum_.data(), sum_.size(), sum_error_.data(), mine_.data(), stream);
    });
    begin(Stage::spread, *spread_);
  }
  /// The sums of all parts are there, or the elements of all ranks.
  void unpack_all() {
    stage_ = Stage::none;
    with_.work(mine_.data(), [&](CUstream_st* stream) {
      for (std::size_t rank = 0; rank < ranks_; ++rank) {
        const std::uint8_t* const its = all_.data() + rank * part_bytes_;
        if (with_.is_top())
          with_.unpack(its, gradient_, count_, rank > 0, stream);
        else
          with_.unpack(its, gradient_ + range(rank).begin, range(rank).size(), false, stream);
      }
      if (with_.is_top()) with_.scale(gradient_, count_, factor_, stream);
    });
  }

  CallSite site_;
  Compressor with_;
  CutMemory memory_;
  std::size_t count_, ranks_, own_;
  std::size_t part_, part_bytes_;  ///< Of the ranks that have most.
  std::span<float> error_{}, sum_{}, sum_error_{};
  std::span<std::uint8_t> parts_{}, all_{}, mine_{};  ///< For each rank; of each rank; for all ranks.
  Stage stage_ = Stage::none;
  float* gradient_ = nullptr;
  float factor_ = 1;
  std::optional<Plan> exchange_{}, spread_{};  ///< Last: they wait before their memory goes.
};

CompressedAllreduce::CompressedAllreduce(Count count, Compression compression, const Communicator& comm,
                                         const CompressionOptions& compression_options, const Options& options)
    : CompressedAllreduce(State::make(count, compression, comm, compression_options, options, false)) {}
CompressedAllreduce CompressedAllreduce::on_device(Count count, Compression compression, const Communicator& comm,
                                                   const CompressionOptions& compression_options,
                                                   const Options& options) {
  return CompressedAllreduce{State::make(count, compression, comm, compression_options, options, true)};
}
CompressedAllreduce::CompressedAllreduce(std::unique_ptr<State> state) : state_(std::move(state)) {}
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
void CompressedAllreduce::run(DeviceSpan<float> gradient, float factor) {
  start(gradient, factor);
  wait();
}
void CompressedAllreduce::start(std::span<float> gradient, float factor) { state("start").start(gradient, factor); }
void CompressedAllreduce::start(DeviceSpan<float> gradient, float factor) {
  state("start").start({gradient.data(), gradient.size()}, factor);
}
bool CompressedAllreduce::test() { return state("test").test(); }
void CompressedAllreduce::go_on() { state("go_on").go_on(); }
void CompressedAllreduce::wait() { state("wait").wait(); }
std::span<const float> CompressedAllreduce::error() const {
  return state("error").error<std::span<const float>>("error");
}
std::span<const float> CompressedAllreduce::sum_error() const {
  return state("sum_error").sum_error<std::span<const float>>("sum_error");
}
DeviceSpan<const float> CompressedAllreduce::device_error() const {
  return state("device_error").error<DeviceSpan<const float>>("device_error");
}
DeviceSpan<const float> CompressedAllreduce::device_sum_error() const {
  return state("device_sum_error").sum_error<DeviceSpan<const float>>("device_sum_error");
}
void CompressedAllreduce::reset() { state("reset").reset(); }
Bytes CompressedAllreduce::bytes_sent() const { return state("bytes_sent").bytes_sent(); }

}  // namespace tutti
