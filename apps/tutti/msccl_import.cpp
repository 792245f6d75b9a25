// MSCCL's algorithms as schedules. The steps of all threadblocks are run once, in some order that their waits allow,
// with messages that wait where they arrive. Each becomes steps of a rank, which wait only for those that touch the
// same chunks. Then they are put into one order in which the two ends of each message stand together: so messages are
// numbered alike on both sides, whatever channel they took.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apps/options.hpp"
#include "apps/tutti/msccl_run.hpp"
#include "apps/tutti/rank_events.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti::tool {
namespace {

using Type = MscclStep::Type;

/// Parts of scratch for what a threadblock receives to reduce, in turn. With one, the ranks of a ring that reduce and
/// send on would wait for each other: a message could not be received before the one before has been passed on.
constexpr int landings = 2;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

class Translation {
 public:
  Translation(const MscclAlgorithm& algorithm, Rank root) : algorithm_(algorithm), run_(algorithm) {
    describe(root);
    landings_.resize(at(run_.threads()));
    std::int64_t chunks = 0;
    for (int gpu = 0; gpu < file_.ranks; ++gpu)
      chunks += add_gpu(gpu);
    if (chunks > most_msccl_chunks)
      throw apps::InputError(fmt::format("{}: the buffers have {} chunks in all; allowed: up to {}", algorithm.path,
                                         chunks, most_msccl_chunks));
    for (int gpu = 0; gpu < file_.ranks; ++gpu)
      for (const Buffer buffer : {Buffer::input, Buffer::output, Buffer::scratch})
        gpus_[at(gpu)].lowest.emplace_back(at(size_of(gpu, buffer).value()), gpu);
  }

  ScheduleFile schedules() && {
    run_.run([this](const Now& now) { execute(now); });
    append_in_order(std::move(events_), file_.schedules);
    return std::move(file_);
  }

 private:
  using Now = MscclRun::Now;
  /// Where in scratch a threadblock puts what it receives to reduce.
  struct Landing {
    std::int64_t begin = 0, longest = 0;
    int used = 0;  ///< How often.
  };
  struct Message {
    int send;                   ///< The event.
    std::vector<int> lowest{};  ///< Of its chunks.
  };
  struct Gpu {
    Shape shape;
    Aliasing aliasing;
    Accesses accesses;
    std::vector<std::vector<int>> lowest{};  ///< By buffer and chunk, the lowest rank whose operand is in it.
  };

  void describe(Rank root);
  std::int64_t add_gpu(int gpu);
  [[nodiscard]] Count size_of(int gpu, Buffer buffer) const;

  void execute(const Now& now);
  void send(const Now& now, const Region& from);
  void receive(const Now& now, const Region& into);
  void reduce(const Now& now, const Region& a, const Region& b, const Region& into);
  int add(const Now& now, Action action, const Regions& reads, const Regions& writes);
  [[nodiscard]] Region next_landing(const Now& now);
  [[nodiscard]] Region located(const Now& now, const Region& region, bool is_written) const;
  [[nodiscard]] std::vector<int> lowest_in(int gpu, const Region& region) const;
  void set_lowest(int gpu, const Region& region, const std::vector<int>& lowest);

  const MscclAlgorithm& algorithm_;
  MscclRun run_;
  ScheduleFile file_{};
  std::vector<Gpu> gpus_{};
  std::vector<Landing> landings_{};  ///< Of each threadblock.
  std::vector<RankEvent> events_{};
  std::vector<MscclPlace> origins_{};  ///< Of each event.
  std::vector<Message> messages_{};    ///< By number, emptied when they are received.
};

void Translation::describe(Rank root) {
  file_.path = algorithm_.path;
  file_.algorithm = algorithm_.name;
  file_.source = "MSCCL";
  file_.collective = algorithm_.collective;
  file_.ranks = static_cast<int>(algorithm_.gpus.size());
  file_.is_in_place = algorithm_.is_in_place;
  file_.is_commutative = reduces(algorithm_.collective);
  file_.least_bytes = algorithm_.least_bytes;
  file_.most_bytes = algorithm_.most_bytes;
  file_.chunks = algorithm_.chunks;
  const auto refuse = [&](const std::string& why) {
    throw apps::InputError(fmt::format("{}: coll is {}, {}", algorithm_.path, msccl_name(algorithm_.collective), why));
  };
  if (has_root(file_.collective)) file_.root = root;
  if (file_.root.value() >= file_.ranks) refuse(fmt::format("on {} GPUs; root {} is none", file_.ranks, root.value()));
  const bool is_in_blocks = file_.collective != Collective::allreduce && file_.collective != Collective::broadcast &&
                            file_.collective != Collective::reduce;
  if (is_in_blocks && file_.chunks % file_.ranks != 0)
    refuse(fmt::format("and nchunksperloop is {}, which {} GPUs do not divide", file_.chunks, file_.ranks));
  if (is_in_blocks) file_.chunks /= file_.ranks;
  const bool differs = file_.collective == Collective::reduce_scatter || file_.collective == Collective::gather ||
                       file_.collective == Collective::scatter;
  if (file_.is_in_place && differs && file_.ranks > 1)
    refuse("in place: its block lies elsewhere than in the MPI call");
}

std::int64_t Translation::add_gpu(int gpu) {
  const Problem problem = problem_of(file_, Rank{gpu}, Count{file_.chunks});
  const Shape shape = shape_of(problem);
  gpus_.push_back({shape, problem.aliasing, Accesses{problem.aliasing}});
  std::int64_t scratch = algorithm_.gpus[at(gpu)].scratch;
  for (int thread = 0; thread < run_.threads(); ++thread) {
    if (run_.gpu_of(thread) != gpu) continue;
    Landing& landing = landings_[at(thread)];
    landing.begin = scratch;
    for (const MscclStep& step : run_.block_of(thread).steps)
      if (receives(step.type) && step.type != Type::recv && step.type != Type::recv_copy_send)
        landing.longest = std::max(landing.longest, step.src.count.value());
    scratch += landings * landing.longest;
  }
  file_.schedules.push_back({{}, Count{scratch}});
  return shape.input.value() + shape.output.value() + scratch;
}

Count Translation::size_of(int gpu, Buffer buffer) const {
  const Gpu& own = gpus_[at(gpu)];
  if (buffer == Buffer::scratch) return file_.schedules[at(gpu)].scratch;
  return buffer == Buffer::input ? own.shape.input : own.shape.output;
}

void Translation::execute(const Now& now) {
  const MscclStep& step = now.step;
  const auto source = [&] { return located(now, step.src, false); };
  const auto target = [&] { return located(now, step.dst, true); };
  const bool lands = step.type == Type::recv_reduce_send || step.type == Type::recv_reduce_copy ||
                     step.type == Type::recv_reduce_copy_send;
  const Region landing = lands ? next_landing(now) : Region{};
  if (lands) receive(now, landing);
  switch (step.type) {
    case Type::nop:
      return;
    case Type::send:
      return send(now, source());
    case Type::recv:
      return receive(now, target());
    case Type::recv_copy_send:
      receive(now, target());
      return send(now, target());
    case Type::recv_reduce_send:
      reduce(now, source(), landing, landing);
      return send(now, landing);
    case Type::recv_reduce_copy:
      return reduce(now, source(), landing, target());
    case Type::recv_reduce_copy_send:
      reduce(now, source(), landing, target());
      return send(now, target());
    case Type::reduce:
      return reduce(now, target(), source(), target());
    case Type::copy:
      if (source() == target()) return;
      add(now, Copy{source(), target()}, {source()}, {target()});
      set_lowest(run_.gpu_of(now.place.thread), target(), lowest_in(run_.gpu_of(now.place.thread), source()));
  }
}

Region Translation::next_landing(const Now& now) {
  Landing& own = landings_[at(now.place.thread)];
  return {Buffer::scratch, Count{own.begin + own.used++ % landings * own.longest}, now.step.src.count};
}

void Translation::send(const Now& now, const Region& from) {
  const int event = add(now, Send{Rank{run_.block_of(now.place.thread).send}, {from}}, {from}, {});
  messages_.push_back({event, lowest_in(run_.gpu_of(now.place.thread), from)});
}

void Translation::receive(const Now& now, const Region& into) {
  const Message message = std::exchange(messages_[at(now.received)], {});
  if (std::ssize(message.lowest) != into.count.value())
    run_.fail(now.place, fmt::format("receives {} chunks, but {} sends {}", into.count.value(),
                                     run_.name_of(origins_[at(message.send)]), message.lowest.size()));
  const int event = add(now, Recv{Rank{run_.block_of(now.place.thread).recv}, {into}}, {}, {into});
  events_[at(event)].partner = message.send;
  events_[at(message.send)].partner = event;
  set_lowest(run_.gpu_of(now.place.thread), into, message.lowest);
}

/// MSCCL's operations commute. The operand with the lower rank in it comes first: so operands stay in the order of
/// ranks where they can, and ranks that combine the same operands compute the same bits.
void Translation::reduce(const Now& now, const Region& a, const Region& b, const Region& into) {
  const int gpu = run_.gpu_of(now.place.thread);
  std::vector<int> lowest = lowest_in(gpu, a);
  const std::vector<int> other = lowest_in(gpu, b);
  const bool is_in_order = lowest <= other;
  for (std::size_t i = 0; i < lowest.size(); ++i)
    lowest[i] = std::min(lowest[i], other[i]);
  add(now, is_in_order ? Reduce{a, b, into} : Reduce{b, a, into}, {a, b}, {into});
  set_lowest(gpu, into, lowest);
}

/// Adds an event. What it must follow because of the chunks that it touches, the algorithm has to order, too.
int Translation::add(const Now& now, Action action, const Regions& reads, const Regions& writes) {
  const int gpu = run_.gpu_of(now.place.thread), event = static_cast<int>(events_.size());
  std::vector<int> after;
  gpus_[at(gpu)].accesses.note(event, reads, writes, after);
  std::erase(after, event);  // a reduction in place
  std::ranges::sort(after);
  after.erase(std::unique(after.begin(), after.end()), after.end());
  for (const int before : after)
    if (const MscclPlace& other = origins_[at(before)]; !run_.is_known(other, now.place.thread))
      run_.fail(now.place,
                fmt::format("touches the same chunk as {}, and nothing says which comes first", run_.name_of(other)));
  events_.push_back({gpu, std::move(action), std::move(after)});
  origins_.push_back(now.place);
  return event;
}

/// The region in the buffer where it lies.
Region Translation::located(const Now& now, const Region& region, bool is_written) const {
  const int gpu = run_.gpu_of(now.place.thread);
  Region found = gpus_[at(gpu)].aliasing.located(region);
  // In a broadcast in place, every GPU's input is the output; in MPI only the root has an input.
  const bool is_output = file_.is_in_place && file_.collective == Collective::broadcast;
  if (is_output && region.buffer == Buffer::input) found = region.in(Buffer::output);
  if (found.buffer == Buffer::input && is_written)
    run_.fail(now.place, "writes i, the input, which belongs to the caller and is not the output");
  const Count size =
      region.buffer == Buffer::scratch ? Count{algorithm_.gpus[at(gpu)].scratch} : size_of(gpu, found.buffer);
  if (found.offset + found.count > size)
    run_.fail(now.place, fmt::format("chunks {} to {} of '{}', which has {} here", region.offset.value(),
                                     (region.offset + region.count).value() - 1,
                                     "ios"[static_cast<std::size_t>(region.buffer)], size.value()));
  return found;
}

std::vector<int> Translation::lowest_in(int gpu, const Region& region) const {
  const std::vector<int>& all = gpus_[at(gpu)].lowest[at(static_cast<int>(region.buffer))];
  const auto begin = all.begin() + region.offset.value();
  return {begin, begin + region.count.value()};
}

void Translation::set_lowest(int gpu, const Region& region, const std::vector<int>& lowest) {
  std::ranges::copy(lowest, gpus_[at(gpu)].lowest[at(static_cast<int>(region.buffer))].begin() + region.offset.value());
}

}  // namespace

void settle(ScheduleFile& file) {
  if (!reduces(file.collective)) return;
  const auto is_proved = [&](bool is_commutative, Bits bits) {
    file.is_commutative = is_commutative;
    file.bits = bits;
    return FiledScene{file, Count{file.chunks}, false, Unproved::shown}.scene().verdict.proved();
  };
  if (is_proved(false, Bits::fixed) || is_proved(false, Bits::same) || is_proved(true, Bits::same) ||
      is_proved(true, Bits::differ))
    return;
  file.bits = Bits::same;
}

ScheduleFile schedules_of(const MscclAlgorithm& algorithm, Rank root) {
  return Translation{algorithm, root}.schedules();
}

}  // namespace tutti::tool
