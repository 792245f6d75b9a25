#include "lib/core/files/filed_algorithm.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <new>
#include <utility>

#include "lib/core/files/words.hpp"
#include "lib/core/schedule/regions.hpp"
#include "tutti/error.hpp"

namespace tutti {
namespace {

/// More of them no rank can have memory for.
constexpr std::int64_t most_elements = std::int64_t{1} << 60;

/// Steps that all wait for a first one, a copy.
Schedule behind(const Copy& copy, Schedule schedule) {
  Schedule made{{Step{copy, {}}}, schedule.scratch};
  for (Step& step : schedule.steps) {
    for (int& before : step.after)
      ++before;
    step.after.insert(step.after.begin(), 0);
    made.steps.push_back(std::move(step));
  }
  return made;
}

/// A schedule for buffers apart, where the input shares memory with the output: the input is copied to scratch first.
Schedule with_input_in_scratch(Schedule schedule, const Shape& shape) {
  const Count place = schedule.scratch;
  schedule.scratch += shape.input;
  for (Step& step : schedule.steps)
    for_each_region(step.action, [&](Region& region) {
      if (region.buffer == Buffer::input) region = {Buffer::scratch, place + region.offset, region.count};
    });
  return behind({{Buffer::input, Count{0}, shape.input}, {Buffer::scratch, place, shape.input}}, std::move(schedule));
}

/// A schedule for an input that starts at element `offset` of the output, where the buffers lie in another way: all
/// works in scratch, and the result is copied from there at the end. `has_result`: there is one.
Schedule worked_in_scratch(Schedule schedule, const Shape& shape, Count offset, bool has_result) {
  const Count low = std::min(Count{0}, offset);
  const Count input_at = schedule.scratch + offset - low, output_at = schedule.scratch - low;
  schedule.scratch = std::max(input_at + shape.input, output_at + shape.output);
  for (Step& step : schedule.steps)
    for_each_region(step.action, [&](Region& region) {
      if (region.buffer == Buffer::scratch) return;
      region.offset += region.buffer == Buffer::input ? input_at : output_at;
      region.buffer = Buffer::scratch;
    });
  schedule =
      behind({{Buffer::input, Count{0}, shape.input}, {Buffer::scratch, input_at, shape.input}}, std::move(schedule));
  if (!has_result) return schedule;
  Step last{Copy{{Buffer::scratch, output_at, shape.output}, {Buffer::output, Count{0}, shape.output}}, {}};
  for (int step = 0; step < static_cast<int>(schedule.steps.size()); ++step)
    last.after.push_back(step);
  schedule.steps.push_back(std::move(last));
  return schedule;
}

}  // namespace

FiledAlgorithm::FiledAlgorithm(ScheduleFile file, std::string name) : file_(std::move(file)), name_(std::move(name)) {
  describe();
}

void FiledAlgorithm::describe() {
  algorithm_.collective = file_.collective;
  algorithm_.name = name_;
  algorithm_.order = file_.is_commutative ? Order::any : Order::of_ranks;
  algorithm_.summary = file_.title;
  algorithm_.source = file_.source;
  algorithm_.bits = file_.bits;
  algorithm_.data = this;
}

void FiledAlgorithm::find_chunks() { chunks_ = tutti::find_chunks(file_); }

std::string FiledAlgorithm::why_unfit(const FiledCall& call) const {
  if (call.ranks != file_.ranks) return fmt::format("it is for {} ranks, not {}", file_.ranks, call.ranks);
  if (call.is_uneven) return "it is for blocks of one size";
  if (has_root(file_.collective) && call.root != file_.root)
    return fmt::format("it is for root {}, not {}", file_.root.value(), call.root.value());
  if (file_.is_commutative && !call.is_commutative) return "it changes the order of operands, which do not commute";
  if (!file_.nodes.empty() && !std::ranges::equal(call.nodes, spread_of(file_)))
    return fmt::format("it is for nodes of {} ranks, one after the other", fmt::join(file_.nodes, ", "));
  if (call.bytes.value() < file_.least_bytes)
    return fmt::format("it is for {} bytes or more, not {}", file_.least_bytes, call.bytes.value());
  if (call.bytes.value() > file_.most_bytes)
    return fmt::format("it is for up to {} bytes, not {}", file_.most_bytes, call.bytes.value());
  return why_unfit(call.count);
}

std::string FiledAlgorithm::why_unfit(Count count) const {
  if (chunks_.unlike.empty() || count < Count{0} || count.value() % file_.chunks == 0) return "";
  return fmt::format("its {} chunks do not divide {} elements, and chunks of different lengths would meet: {}",
                     file_.chunks, count.value(), chunks_.unlike);
}

Schedule FiledAlgorithm::build(const Problem& problem) const {
  const auto rank = static_cast<std::size_t>(problem.rank.value());
  FiledCall call{.ranks = problem.size,
                 .root = problem.root,
                 .bytes = Bytes{file_.least_bytes},
                 .count = problem.count,
                 .is_uneven = problem.uneven()};
  const std::vector<int> nodes = spread_of(file_);
  call.nodes = nodes;  // which the choice has looked at
  std::string why = why_unfit(call);
  if (only_ && only_ != problem.rank)
    why = fmt::format("this process has only the schedule of rank {}", only_->value());
  if (!why.empty()) throw ArgumentError(fmt::format("tutti: {}: {}", name_, why));
  const Schedule& own = file_.schedules[rank];
  if (own.scratch > Count{0} && problem.count.value() / file_.chunks >= most_elements / own.scratch.value())
    throw std::bad_alloc{};
  const bool is_plain = file_.collective == Collective::barrier || problem.count == Count{file_.chunks};
  static const HeldChunks none{};
  const HeldChunks& held = chunks_.held.empty() ? none : chunks_.held[rank];
  Schedule made = is_plain ? own : scaled(own, held, file_.chunks, problem.count);
  const Aliasing required = problem_of(file_, problem.rank, problem.count).aliasing;
  if (serves_all_placements_ || problem.aliasing == required) return made;
  if (!required.offset()) return with_input_in_scratch(std::move(made), shape_of(problem));
  const bool has_result =
      shape_of(problem).output > Count{0} && !(file_.collective == Collective::exscan && problem.rank == Rank{0});
  return worked_in_scratch(std::move(made), shape_of(problem), *required.offset(), has_result);
}

Cost FiledAlgorithm::cost(const Problem& problem) const {
  const std::int64_t length = (problem.count.value() + file_.chunks - 1) / file_.chunks;
  Cost cost = cost_;
  for (Count* const each : {&cost.sent, &cost.reduced, &cost.copied, &cost.scratch})
    *each = length * *each;
  return cost;
}

std::vector<std::int64_t> FiledAlgorithm::words(std::optional<Rank> only) const {
  WordWriter writer;
  for (const std::string* const text :
       {&name_, &file_.path, &file_.algorithm, &file_.title, &file_.source, &chunks_.unlike})
    writer.put(*text);
  for (const std::int64_t number :
       {std::int64_t{static_cast<int>(file_.collective)}, std::int64_t{file_.ranks}, file_.chunks,
        std::int64_t{file_.root.value()}, std::int64_t{file_.is_commutative}, std::int64_t{file_.is_in_place},
        file_.least_bytes, file_.most_bytes, static_cast<std::int64_t>(file_.bits),
        std::int64_t{serves_all_placements_}, std::int64_t{cost_.messages}, std::int64_t{cost_.rounds},
        cost_.sent.value(), cost_.reduced.value(), cost_.copied.value(), cost_.scratch.value(),
        std::int64_t{only ? only->value() : -1}})
    writer.put(number);
  writer.put(std::vector<std::int64_t>(file_.nodes.begin(), file_.nodes.end()));
  for (std::size_t rank = 0; rank < file_.schedules.size(); ++rank) {
    if (only && static_cast<std::size_t>(only->value()) != rank) continue;
    writer.put(file_.schedules[rank]);
    writer.put(chunks_.held.empty() ? HeldChunks{} : chunks_.held[rank]);
  }
  return std::move(writer).words();
}

std::unique_ptr<FiledAlgorithm> FiledAlgorithm::of_words(std::span<const std::int64_t> words) {
  WordReader reader{words};
  std::unique_ptr<FiledAlgorithm> made{new FiledAlgorithm};
  ScheduleFile& file = made->file_;
  Cost& cost = made->cost_;
  for (std::string* const text :
       {&made->name_, &file.path, &file.algorithm, &file.title, &file.source, &made->chunks_.unlike})
    *text = reader.text();
  file.collective = static_cast<Collective>(reader.number());
  file.ranks = static_cast<int>(reader.number());
  file.chunks = reader.number();
  file.root = Rank{static_cast<int>(reader.number())};
  file.is_commutative = reader.number() != 0;
  file.is_in_place = reader.number() != 0;
  file.least_bytes = reader.number();
  file.most_bytes = reader.number();
  file.bits = static_cast<Bits>(reader.number());
  made->serves_all_placements_ = reader.number() != 0;
  cost.messages = static_cast<int>(reader.number());
  cost.rounds = static_cast<int>(reader.number());
  for (Count* const each : {&cost.sent, &cost.reduced, &cost.copied, &cost.scratch})
    *each = Count{reader.number()};
  if (const int only = static_cast<int>(reader.number()); only >= 0) made->only_ = Rank{only};
  for (const std::int64_t ranks : reader.numbers())
    file.nodes.push_back(static_cast<int>(ranks));
  file.schedules.resize(static_cast<std::size_t>(file.ranks));
  made->chunks_.held.resize(file.schedules.size());
  for (int rank = 0; rank < file.ranks; ++rank) {
    if (made->only_ && made->only_ != Rank{rank}) continue;
    file.schedules[static_cast<std::size_t>(rank)] = reader.schedule();
    made->chunks_.held[static_cast<std::size_t>(rank)] = reader.numbers();
  }
  made->describe();
  return made;
}

}  // namespace tutti
