// Schedules as algorithms of MSCCL. A GPU has a threadblock for each peer that it sends to, one for each that it
// receives from, and one for what it does alone; several where there are many steps. Their steps are in an order in
// which every step comes behind all that it waits for, with one message of a pair at a time: so no threadblock can wait
// for another in a circle.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "apps/options.hpp"
#include "apps/tutti/msccl.hpp"
#include "lib/core/schedule/passes.hpp"
#include "lib/proof/checker/graph.hpp"

namespace tutti::tool {
namespace {

using Type = MscclStep::Type;

/// What MSCCL's interpreter takes: chunks of a step, steps of a threadblock, channels. It takes 32 threadblocks on a
/// channel, which are those of 15 peers and one for the rest.
constexpr std::int64_t most_chunks_of_step = 71, most_steps_of_block = 256;
constexpr int most_channels = 32, peers_of_channel = 15;
/// A threadblock has so many steps of a rank, as one of them may become several; the next ones go to another.
constexpr int steps_of_block = 64;

/// Regions that one step works on together, alike in length.
using Piece = std::vector<Region>;

/// Lists of regions of equal totals, cut wherever one of them is, and into no more than `most` elements.
std::vector<Piece> cut(std::vector<Regions> lists, Count most) {
  std::vector<Piece> pieces;
  for (Regions& list : lists) {
    std::erase_if(list, [](const Region& region) { return region.count == Count{0}; });
    std::ranges::reverse(list);  // the next one last
  }
  while (!lists[0].empty()) {
    Count length = most;
    for (const Regions& list : lists)
      length = std::min(length, list.back().count);
    Piece& piece = pieces.emplace_back();
    for (Regions& list : lists) {
      Region& rest = list.back();
      piece.push_back(rest.first(length));
      rest.offset += length;
      rest.count = rest.count - length;
      if (rest.count == Count{0}) list.pop_back();
    }
  }
  return pieces;
}

/// Receives joined with their reductions, and in place all regions where they lie, in the output.
checker::RankSchedules prepared_schedules(const Scene& scene) {
  checker::RankSchedules schedules = scene.schedules;
  for (checker::RankSchedule& own : schedules) {
    own.schedule = fused(std::move(own.schedule));
    const auto locate = [&](Region& region) { region = checker::located(own, region); };
    for (Step& step : own.schedule.steps) {
      checker::for_each_read(step.action, locate);
      checker::for_each_write(step.action, locate);
    }
  }
  return schedules;
}

class MscclWriter {
 public:
  explicit MscclWriter(const Scene& scene)
      : scene_((require_sayable(scene), scene)), schedules_(prepared_schedules(scene)), graph_(schedules_) {}

  MscclAlgorithm algorithm() && {
    find_unit();
    describe();
    done_.resize(static_cast<std::size_t>(graph_.steps()));
    for (const int event : graph_.order(checker::Flow::one_credit).events) {
      const int step = checker::Graph::step_of(event);
      const bool sends = std::holds_alternative<Send>(graph_.step(step).action);
      if (checker::Graph::is_start(event) == sends) add(step);  // sends as they start, others as they are complete
    }
    require_short();
    return std::move(algorithm_);
  }

 private:
  using Kind = Type;  ///< `send`, `recv`, and `nop` for what a GPU does alone.
  /// A step of a threadblock of the GPU.
  struct Place {
    int block = -1, step = -1;
  };

  static void require_sayable(const Scene& scene);
  void find_unit();
  void describe();
  void require_short() const;
  void add(int step);
  void add_copy(const Copy& copy);
  void add_reduction(const Reduce& reduce);
  void add_message(const Send& send, const Recv& recv, bool is_receiver);
  void begin(int rank, Kind kind, int peer, int step, int number);
  void append(Type type, const Region& src, const Region& dst);
  void wait_for(const Place& place);

  [[nodiscard]] Region in_chunks(const Region& region) const {
    return {region.buffer, Count{region.offset.value() / unit_}, Count{region.count.value() / unit_}};
  }
  [[nodiscard]] Count most() const { return Count{unit_ * most_chunks_of_step}; }
  [[nodiscard]] MscclBlock& block() {
    return algorithm_.gpus[static_cast<std::size_t>(rank_)].blocks[static_cast<std::size_t>(block_)];
  }

  const Scene& scene_;
  checker::RankSchedules schedules_;
  checker::Graph graph_;
  MscclAlgorithm algorithm_{};
  std::int64_t unit_ = 0;                                    ///< Elements of a chunk.
  std::map<std::tuple<int, Kind, int, int>, int> blocks_{};  ///< By rank, kind, peer and part.
  std::map<int, int> alone_{};                               ///< Of each rank, the steps that are no messages.
  std::vector<Place> done_{};  ///< Of each step of the graph, the last one that it has become.
  int rank_ = 0, block_ = 0;   ///< Where steps are appended.
};

void MscclWriter::require_sayable(const Scene& scene) {
  const auto refuse = [&](const std::string& why) {
    throw apps::InputError(fmt::format("{}: {}", scene.title(), why));
  };
  const Collective collective = scene.choice.algorithm->collective;
  if (!scene.verdict.proved()) refuse(scene.cost_text());
  if (msccl_name(collective).empty()) refuse(fmt::format("MSCCL has no {}", to_string(collective)));
  if (scene.what.root != Rank{0}) refuse("MSCCL has no word for a root, which is GPU 0");
  if (scene.what.count == Count{0}) refuse("MSCCL has no word for no elements");
  const bool differs =
      collective == Collective::reduce_scatter || collective == Collective::gather || collective == Collective::scatter;
  if (scene.what.placement == checker::Placement::in_place && differs && scene.what.size > 1)
    refuse("in place, the block of a GPU lies elsewhere in MSCCL than in the MPI call");
  for (const checker::RankSchedule& own : scene.schedules)
    for (const Step& step : own.schedule.steps)
      if (const auto* const send = std::get_if<Send>(&step.action);
          send != nullptr && checker::total(send->from) == Count{0})
        refuse("MSCCL has no word for a message without data");
}

/// The largest chunk of which all regions and buffers are made.
void MscclWriter::find_unit() {
  const auto take = [&](const Region& region) {
    if (region.count > Count{0}) unit_ = std::gcd(std::gcd(unit_, region.offset.value()), region.count.value());
  };
  for (const checker::RankSchedule& own : schedules_) {
    unit_ = std::gcd(std::gcd(unit_, own.input.value()), own.output.value());
    for (const Step& step : own.schedule.steps) {
      checker::for_each_read(step.action, take);
      checker::for_each_write(step.action, take);
    }
  }
}

void MscclWriter::describe() {
  algorithm_.name = fmt::format("{}_{}", to_string(scene_.choice.algorithm->collective), to_text(scene_.choice));
  algorithm_.collective = scene_.choice.algorithm->collective;
  algorithm_.is_in_place = scene_.what.placement == checker::Placement::in_place;
  algorithm_.least_bytes = scene_.least_bytes;
  algorithm_.most_bytes = scene_.most_bytes;
  const auto chunks = [&](Count count) { return (count.value() + unit_ - 1) / unit_; };
  for (const checker::RankSchedule& own : schedules_) {
    algorithm_.gpus.push_back({chunks(own.input), chunks(own.output), chunks(own.schedule.scratch)});
    algorithm_.chunks = std::max({algorithm_.chunks, algorithm_.gpus.back().input, algorithm_.gpus.back().output});
  }
}

void MscclWriter::require_short() const {
  if (algorithm_.channels > most_channels)
    throw apps::InputError(
        fmt::format("{}: it needs {} channels; MSCCL takes {}", scene_.title(), algorithm_.channels, most_channels));
  for (const MscclGpu& gpu : algorithm_.gpus)
    for (const MscclBlock& block : gpu.blocks)
      if (std::ssize(block.steps) > most_steps_of_block)
        throw apps::InputError(
            fmt::format("{}: a threadblock of {} steps; MSCCL takes {} (a chunk has {} of {} elements: a count that "
                        "more numbers divide "
                        "gives larger chunks)",
                        scene_.title(), block.steps.size(), most_steps_of_block, unit_, scene_.what.count.value()));
}

void MscclWriter::add(int step) {
  const int rank = graph_.rank(step).value();
  const Action& action = graph_.step(step).action;
  if (const auto* const send = std::get_if<Send>(&action)) {
    begin(rank, Type::send, send->to.value(), step, send->message);
    add_message(*send, std::get<Recv>(graph_.step(graph_.partner(step)).action), false);
  } else if (const auto* const recv = std::get_if<Recv>(&action)) {
    begin(rank, Type::recv, recv->from.value(), step, recv->message);
    add_message(std::get<Send>(graph_.step(graph_.partner(step)).action), *recv, true);
  } else {
    begin(rank, Type::nop, -1, step, alone_[rank]++);
    if (const auto* const reduce = std::get_if<Reduce>(&action))
      add_reduction(*reduce);
    else
      add_copy(std::get<Copy>(action));
  }
  done_[static_cast<std::size_t>(step)] = {block_, static_cast<int>(block().steps.size()) - 1};
}

/// Goes to the threadblock of a step, the `number`-th of its kind, and has it wait for what the step waits for.
void MscclWriter::begin(int rank, Kind kind, int peer, int step, int number) {
  rank_ = rank;
  std::vector<MscclBlock>& blocks = algorithm_.gpus[static_cast<std::size_t>(rank)].blocks;
  const int part = number / steps_of_block;
  const auto [found, is_new] = blocks_.try_emplace({rank, kind, peer, part}, static_cast<int>(blocks.size()));
  block_ = found->second;
  if (is_new) {
    MscclBlock& made = blocks.emplace_back();
    const int ranks = scene_.what.size, bands = (ranks - 1) / peers_of_channel + 1;
    const int way = ((kind == Type::send ? peer - rank : rank - peer) + ranks) % ranks;  // the same on both sides
    made.channel = part * bands + (peer < 0 ? 0 : way / peers_of_channel);
    if (kind == Type::send) made.send = peer;
    if (kind == Type::recv) made.recv = peer;
    algorithm_.channels = std::max(algorithm_.channels, made.channel + 1);
  }
  std::map<int, int> last;                      // of each other threadblock, the last step to wait for
  const int first = step - graph_.local(step);  // of the rank, in the graph
  for (const int before : graph_.step(step).after) {
    const Place& place = done_[static_cast<std::size_t>(first + before)];
    if (place.block == block_) continue;
    int& own = last.try_emplace(place.block, place.step).first->second;
    own = std::max(own, place.step);
  }
  for (const auto& [other, awaited] : last)
    wait_for({other, awaited});
}

/// A step waits for one other: the others are waited for by steps that do nothing else.
void MscclWriter::wait_for(const Place& place) {
  MscclStep nop;
  nop.after_block = place.block;
  nop.after_step = place.step;
  block().steps.push_back(nop);
  algorithm_.gpus[static_cast<std::size_t>(rank_)]
      .blocks[static_cast<std::size_t>(place.block)]
      .steps[static_cast<std::size_t>(place.step)]
      .is_awaited = true;
}

void MscclWriter::append(Type type, const Region& src, const Region& dst) {
  MscclStep step{type, in_chunks(src), in_chunks(dst)};
  std::vector<MscclStep>& steps = block().steps;
  // The last wait in front of it becomes its own, unless somebody waits for that.
  if (!steps.empty() && steps.back().type == Type::nop && !steps.back().is_awaited && steps.back().after_block >= 0) {
    step.after_block = steps.back().after_block;
    step.after_step = steps.back().after_step;
    steps.pop_back();
  }
  steps.push_back(step);
}

void MscclWriter::add_message(const Send& send, const Recv& recv, bool is_receiver) {
  std::vector<Regions> lists{send.from, recv.into};
  if (recv.then) {
    lists.push_back({recv.then->lhs == recv.into[0] ? recv.then->rhs : recv.then->lhs});
    lists.push_back({recv.then->into});
  }
  for (const Piece& piece : cut(std::move(lists), most())) {
    if (!is_receiver)
      append(Type::send, piece[0], recv.then ? piece[3] : piece[1]);
    else if (recv.then)
      append(Type::recv_reduce_copy, piece[2], piece[3]);
    else
      append(Type::recv, piece[0], piece[1]);
  }
}

void MscclWriter::add_reduction(const Reduce& reduce) {
  for (const Piece& piece : cut({{reduce.lhs}, {reduce.rhs}, {reduce.into}}, most())) {
    const bool is_into_rhs = reduce.into == reduce.rhs;
    if (!is_into_rhs && reduce.into != reduce.lhs) append(Type::copy, piece[0], piece[2]);
    append(Type::reduce, is_into_rhs ? piece[0] : piece[1], piece[2]);
  }
}

/// A copy of nothing only orders.
void MscclWriter::add_copy(const Copy& copy) {
  for (const Piece& piece : cut({{copy.from}, {copy.into}}, most()))
    append(Type::copy, piece[0], piece[1]);
  if (copy.into.count == Count{0}) block().steps.emplace_back();
}

}  // namespace

MscclAlgorithm msccl_of(const Scene& scene) { return MscclWriter{scene}.algorithm(); }

}  // namespace tutti::tool
