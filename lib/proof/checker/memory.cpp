#include "memory.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fault.hpp"
#include "lib/core/schedule/text.hpp"

namespace tutti::checker {
namespace {

void require_no_garbage(std::span<const Value> values, const Region& region, int step, const Graph& graph) {
  const auto garbage = std::ranges::find(values, Value::garbage);
  if (garbage == values.end()) return;
  const Region element{region.buffer, region.offset + Count{garbage - values.begin()}, Count{1}};
  graph.refute(step, fmt::format("reads garbage from {}", to_text(element)));
}

}  // namespace

Memory::Memory(const RankSchedules& schedules, const Values& values) : schedules_(schedules), values_(values) {
  std::size_t size = 0;
  for (const RankSchedule& own : schedules) {
    std::array<std::size_t, 3> starts{};
    const auto add = [&](Buffer buffer, Count before, Count count) {
      starts[static_cast<std::size_t>(buffer)] = size + static_cast<std::size_t>(before.value());
      size += static_cast<std::size_t>((before + count).value());
    };
    // An aliased input may reach out of the output at either end.
    const Count input = own.aliasing.offset().value_or(Count{0});
    const Count end = own.aliasing.offset() ? std::max(own.output, input + own.input) : own.output;
    add(Buffer::output, std::max(Count{0}, Count{0} - input), end);
    add(Buffer::scratch, Count{0}, own.schedule.scratch);
    if (!own.aliasing.offset()) add(Buffer::input, Count{0}, own.input);
    starts_.push_back(starts);
  }
  elements_.assign(size, Value::garbage);
  for (int rank = 0; rank < static_cast<int>(schedules.size()); ++rank) {
    const Count input = schedules[static_cast<std::size_t>(rank)].input;
    Leaf leaf{Rank{rank}, Count{0}};
    for (Value& value : at(leaf.rank, {Buffer::input, Count{0}, input})) {
      value = values.leaf(leaf);
      leaf.element += Count{1};
    }
  }
}

std::span<Value> Memory::at(Rank rank, const Region& region) {
  const auto place = static_cast<std::size_t>(rank.value());
  const Region real = located(schedules_[place], region);
  const std::size_t start = starts_[place][static_cast<std::size_t>(real.buffer)];
  return std::span{elements_}.subspan(start + static_cast<std::size_t>(real.offset.value()),  // wraps if negative
                                      static_cast<std::size_t>(real.count.value()));
}

std::span<Value> Memory::output(Rank rank) {
  return at(rank, {Buffer::output, Count{0}, schedules_[static_cast<std::size_t>(rank.value())].output});
}

Value Memory::before(Rank rank, Count element) const {
  const RankSchedule& own = schedules_[static_cast<std::size_t>(rank.value())];
  const auto offset = own.aliasing.offset();
  const bool is_input = offset && *offset <= element && element < *offset + own.input;
  return is_input ? values_.leaf({rank, element - *offset}) : Value::garbage;
}

void Memory::note_operands(int step, std::span<const Value> operands, const Graph& graph) const {
  if (made_.empty()) return;
  for (const Value operand : operands)
    if (!values_.is_leaf(operand) && !made_[static_cast<std::size_t>(graph.rank(step).value())].contains(operand))
      graph.refute(step, fmt::format("combines a result of another rank: {}", values_.text(operand)));
}

void Memory::note_results(Rank rank, std::span<const Value> results) {
  if (!made_.empty()) made_[static_cast<std::size_t>(rank.value())].insert(results.begin(), results.end());
}

std::vector<Value> payload_of(int send, const Graph& graph, Memory& memory) {
  std::vector<Value> payload;
  for (const Region& region : std::get<Send>(graph.step(send).action).from) {
    const std::span<const Value> values = memory.at(graph.rank(send), region);
    require_no_garbage(values, region, send, graph);
    payload.insert(payload.end(), values.begin(), values.end());
  }
  return payload;
}

void deliver(std::span<const Value> payload, int recv, const Graph& graph, Memory& memory) {
  for (const Region& region : std::get<Recv>(graph.step(recv).action).into) {
    const std::span<Value> values = memory.at(graph.rank(recv), region);
    std::ranges::copy(payload.first(values.size()), values.begin());
    payload = payload.subspan(values.size());
  }
}

void compute(int step, const Graph& graph, Memory& memory, Values& values) {
  const Action& action = graph.step(step).action;
  const auto read = [&](const Region& region) {
    const std::span<const Value> found = memory.at(graph.rank(step), region);
    require_no_garbage(found, region, step, graph);
    return found;
  };
  const auto combine = [&](const Reduce& reduce) {
    const auto lhs = read(reduce.lhs), rhs = read(reduce.rhs);
    memory.note_operands(step, lhs, graph);
    memory.note_operands(step, rhs, graph);
    const std::span<Value> into = memory.at(graph.rank(step), reduce.into);
    std::ranges::transform(lhs, rhs, into.begin(),
                           [&](Value left, Value right) { return values.reduced(left, right); });
    memory.note_results(graph.rank(step), into);
  };
  if (const auto* copy = std::get_if<Copy>(&action))
    std::ranges::copy(read(copy->from), memory.at(graph.rank(step), copy->into).begin());
  else if (const auto* reduce = std::get_if<Reduce>(&action))
    combine(*reduce);
  else if (const auto* recv = std::get_if<Recv>(&action); recv != nullptr && recv->then) {
    combine(*recv->then);
    if (recv->then->into != recv->into[0])
      std::ranges::fill(memory.at(graph.rank(step), recv->into[0]), Value::garbage);
  }
}

void run_in_order(std::span<const int> events, const Graph& graph, Memory& memory, Values& values) {
  for (const int event : events) {
    if (Graph::is_start(event)) continue;
    const int step = Graph::step_of(event);
    if (std::holds_alternative<Recv>(graph.step(step).action))
      deliver(payload_of(graph.partner(step), graph, memory), step, graph, memory);
    compute(step, graph, memory, values);
  }
}

}  // namespace tutti::checker
