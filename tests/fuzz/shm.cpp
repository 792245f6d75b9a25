// The ends of messages through shared memory, whose peers write what they like: envelopes, loans, credits, buffers that
// they give back. An input is a scenario, then what happens, one thing after the other.
#include <limits>

#include "lib/core/plan/shm_compile.hpp"
#include "lib/core/schedule/choice.hpp"
#include "tests/fuzz/shm_node.hpp"

namespace tutti::fuzz {
namespace {

using shm::Envelope;

struct Collective3 {
  Collective collective;
  const char* algorithm;
  std::int64_t count;
};
constexpr std::array scenarios{
    Collective3{Collective::allreduce, "recursive_doubling", 2},  // one line
    Collective3{Collective::allreduce, "recursive_doubling", 50},
    Collective3{Collective::allreduce, "recursive_doubling", 1500},
    Collective3{Collective::allreduce, "recursive_doubling", 5000},  // several pieces
    Collective3{Collective::allreduce, "ring", 9000},
    Collective3{Collective::allreduce, "one_shot", 3000},  // shared copies, joint reductions
    Collective3{Collective::allreduce, "two_shot", 9000},
    Collective3{Collective::allreduce, "reduce_broadcast:3", 5000},
    Collective3{Collective::reduce, "chain/4K", 5000},
    Collective3{Collective::broadcast, "knomial:3", 5000},
    Collective3{Collective::allreduce, "rabenseifner", 9000},  // answers in Tutti memory
    Collective3{Collective::gather, "linear", 3000},
    Collective3{Collective::alltoall, "linear", 2500},
    Collective3{Collective::allgather, "ring", 40},
    Collective3{Collective::scan, "linear", 3000},
    Collective3{Collective::barrier, "dissemination", 0},
};

Scenario compiled(const Collective3& wanted) {
  const Choice choice = read_choice(wanted.collective, wanted.algorithm);
  checker::Case what{.size = ranks, .count = Count{wanted.count}};
  what.parameter = choice.parameter;
  const checker::Problems problems{*choice.algorithm, what};
  const std::vector<std::uint8_t> reaches(ranks, 1);
  Scenario scenario;
  for (int me = 0; me < ranks; ++me) {
    const Problem& problem = problems.of(Rank{me});
    scenario.plans.push_back(shm::compile(choice, problem, Type::int32, Op::sum, {.window = Routing::most_window},
                                          {.reaches = reaches,
                                           .cell_bytes = geometry.cell_bytes,
                                           .piece_bytes = geometry.buffer_bytes,
                                           .joined_bytes = shm::tuning.joined_bytes,
                                           .eager_messages = geometry.sure_cells()}));
    const Shape shape = shape_of(problem);
    scenario.input.push_back(shape.input.value() * scenario.plans.back().element);
    scenario.output.push_back(shape.output.value() * scenario.plans.back().element);
  }
  return scenario;
}

const Scenario& scenario_of(std::size_t number) {
  static const std::vector<Scenario> all = [] {
    std::vector<Scenario> made;
    for (const Collective3& each : scenarios)
      made.push_back(compiled(each));
    return made;
  }();
  return all[number];
}

/// Writes to the memory that the ranks share.
class Intruder {
 public:
  Intruder(Node& node, Source& source, int lane) : node_(node), source_(source), lane_(lane) {}

  void act() {
    const int to = static_cast<int>(source_.below(ranks)), from = (to + 1 + static_cast<int>(source_.below(2))) % ranks;
    switch (source_.below(4)) {
      case 0:
        return send(from, to);
      case 1:
        return credit(from, to);
      case 2:
        return give_back(from, to);
      default:
        return poke(from, to);
    }
  }

 private:
  static int side_of(int me, int peer) { return me < peer ? 0 : 1; }

  /// A message that the receiver waits for, or nearly.
  void send(int from, int to) {
    const std::uint8_t altered = source_.next<std::uint8_t>();
    Envelope envelope = expected(from, to);
    if ((altered & 1U) != 0) envelope.bytes += source_.next<std::uint8_t>();
    if ((altered & 2U) != 0) envelope.operation += source_.next<std::uint8_t>();
    if ((altered & 4U) != 0) envelope.message += source_.next<std::uint8_t>();
    if ((altered & 8U) != 0) envelope.phase = source_.next<std::uint8_t>();
    envelope.where = static_cast<shm::Where>(source_.below(12));
    envelope.number = source_.next<std::uint16_t>();
    const std::uint64_t ahead = (altered & 16U) != 0 ? source_.below(geometry.cells) : 0;
    write(from, to, ahead, envelope, (altered & 32U) != 0 ? loan_of_device() : bytes_of(loan(from)),
          (altered & 64U) != 0);
  }
  [[nodiscard]] Envelope expected(int from, int to) {
    std::vector<const CompiledStep*> steps;
    for (const CompiledStep& step : node_.plan(to).steps)
      if (step.receives() && step.peer == from) steps.push_back(&step);
    if (steps.empty()) return {};
    return node_.context(to).envelope_of(*steps[source_.below(std::min<std::size_t>(steps.size(), 256))]);
  }

  using Payload = std::array<std::byte, shm::in_first_line>;
  template <class Kind>
  static Payload bytes_of(const Kind& kind) {
    Payload bytes{};
    std::memcpy(bytes.data(), &kind, sizeof kind);
    return bytes;
  }
  /// Near the data of a rank, at an end of its part of the heap, or anywhere.
  std::int64_t place(int owner) {
    const std::int64_t part = shm::NodeHeap::bytes_of_each(ranks), near = source_.next<std::int16_t>();
    switch (source_.below(5)) {
      case 0:
        return source_.next<std::int64_t>();
      case 1:
        return owner * part + near;
      case 2:
        return (owner + 1) * part + near;
      case 3:
        return reinterpret_cast<std::intptr_t>(node_.shared().heap_of(owner)) + near;
      default:
        return owner * part + SharedByRuns::most_data / 2 + near;
    }
  }
  shm::Loan loan(int owner) {
    shm::Loan loan{.source = place(owner)};
    if (source_.below(2) != 0) return loan;
    loan.answer = place(owner);
    loan.answer_message = source_.next<std::int8_t>();
    return loan;
  }
  Payload loan_of_device() { return bytes_of(shm::DeviceLoan{.place = source_.next<std::int32_t>()}); }

  /// Writes lines that seem to belong to the message: those of one cell, or as many as the ring has.
  void write(int from, int to, std::uint64_t ahead, const Envelope& envelope, const Payload& payload, bool fills_ring) {
    const std::uint64_t number = node_.channel(to, from).ring(lane_).state()[2] + ahead;
    std::byte* const ring = node_.pair(from, to) + geometry.ring_at(lane_, side_of(from, to));
    auto* const lines = reinterpret_cast<shm::Line*>(
        ring + static_cast<std::int64_t>(number % static_cast<std::uint64_t>(geometry.cells)) * geometry.cell_stride());
    std::memcpy(lines->payload, &envelope, sizeof envelope);
    std::memcpy(lines->payload + sizeof envelope, payload.data(), payload.size());
    const std::int64_t cells = fills_ring ? geometry.cells - static_cast<std::int64_t>(number % geometry.cells) : 1;
    for (std::int64_t line = 0; line < cells * geometry.cell_lines(); ++line)
      lines[line].flag.store(number + 1);
  }

  using Word = std::atomic<std::uint64_t>;
  /// Writes that so many cells were read, or loans, or that a loan cannot be read; or nothing: the fourth word has no
  /// meaning.
  void credit(int from, int to) {
    const std::size_t word = source_.below(4);
    const std::uint64_t value = source_.below(2) != 0 ? source_.next<std::uint64_t>() : source_.next<std::uint8_t>();
    std::byte* const credits = node_.pair(from, to) + geometry.credits_at(lane_, side_of(to, from));
    reinterpret_cast<Word*>(credits)[word].store(value);
  }
  void give_back(int from, int to) {
    using Return = std::atomic<shm::Geometry::Return>;
    auto* const entries = reinterpret_cast<Return*>(node_.pair(from, to) + geometry.returns_at(side_of(from, to)));
    for (std::size_t count = 1 + source_.below(geometry.buffers); count > 0; --count)
      entries[source_.below(geometry.buffers)].store(source_.next<std::uint16_t>());
  }
  void poke(int from, int to) {
    const std::size_t at = source_.next<std::uint16_t>() % static_cast<std::size_t>(geometry.pair_bytes());
    node_.pair(from, to)[at] = static_cast<std::byte>(source_.next<std::uint8_t>());
  }

  Node& node_;
  Source& source_;
  int lane_;
};

void run(Input input) {
  static const SharedByRuns shared;
  shared.clear();
  Source source{input};
  const Scenario& scenario = scenario_of(source.below(scenarios.size()));
  const std::uint8_t ways = source.next<std::uint8_t>();
  const int lane = (ways & 4U) != 0 ? 1 : shm::Geometry::blocking_lane;
  Node node{shared, scenario, (ways & 1U) != 0 ? Node::Memory::heap : Node::Memory::ordinary, lane};
  Intruder intruder{node, source, lane};
  while (!source.is_over())
    if (const std::size_t what = source.below(ranks + 1); what < ranks)
      node.advance(static_cast<int>(what));
    else
      intruder.act();
  for (int turn = 0; turn < 4 * ranks; ++turn)
    node.advance(turn % ranks);
  node.require_whole();
}

const Registration registration{{"shm", run}};

}  // namespace
}  // namespace tutti::fuzz
