#include "generator.hpp"

#include <algorithm>
#include <bit>

#include "choices.hpp"
#include "random.hpp"
#include "tutti/algorithm.hpp"

namespace tutti::differential {
namespace {

bool has_blocks(Collective collective) {
  return collective >= Collective::reduce_scatter && collective <= Collective::alltoall;
}

/// All ways that messages travel have their share: 0, a few elements, short, middling, long ones; and powers of two and
/// numbers near them.
std::int64_t random_elements(Random& random, std::int64_t element, std::int64_t max_bytes) {
  if (random.chance(5)) return 0;
  if (random.chance(15)) return random.between(1, 20);
  const std::int64_t share = random.between(0, 99);
  const std::int64_t bits = share < 25   ? random.between(0, 10)
                            : share < 75 ? random.between(11, 16)
                            : share < 93 ? random.between(17, 19)
                                         : random.between(20, 22);
  const std::int64_t power = std::int64_t{1} << bits;
  const std::int64_t bytes = random.chance(40) ? power : random.between(power / 2, power);
  const std::int64_t elements = std::min(bytes, max_bytes) / element;
  return std::max<std::int64_t>(0, elements + (random.chance(30) ? random.between(-1, 1) : 0));
}

/// `number` counts around `mean`, many of them 0; sometimes one is as large as `ranks` of them together.
std::vector<std::int64_t> random_counts(Random& random, int number, int ranks, std::int64_t mean) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(number));
  if (random.chance(15)) {
    counts[static_cast<std::size_t>(random.between(0, number - 1))] = mean * ranks;
    return counts;
  }
  const int percent_empty = random.chance(50) ? 0 : 30;
  for (std::int64_t& count : counts)
    count = random.chance(percent_empty) ? 0 : random.between(0, 2 * mean);
  return counts;
}

/// Makes the count from rank a to rank b equal to the reverse, as calls in place need it.
void make_symmetric(std::vector<std::int64_t>& counts, int size) {
  const auto at = [&](int a, int b) -> std::int64_t& { return counts[static_cast<std::size_t>(a * size + b)]; };
  for (int a = 0; a < size; ++a)
    for (int b = 0; b < a; ++b)
      at(a, b) = at(b, a);
}

void choose_collective(Call& call, Random& random, const CommunicatorShape& on, std::int64_t max_bytes) {
  call.root = static_cast<int>(random.between(0, call.size - 1));
  if (reduces(call.collective)) call.op = random_op(random, call.collective, call.type);
  call.in_place = random.chance(50) ? InPlace::no : random.chance(60) ? InPlace::on_all_ranks : InPlace::on_some_ranks;
  call.by_mpi = random.chance(75);
  const std::int64_t element = size_of(call.type).value();
  const std::int64_t elements =
      call.collective == Collective::barrier ? 0 : random_elements(random, element, max_bytes);
  call.count = elements;
  if (has_blocks(call.collective)) {
    call.count = elements / call.size;
    call.is_uneven = random.chance(50);
    call.has_gaps = call.is_uneven && call.collective != Collective::reduce_scatter && random.chance(60);
  }
  if (call.is_uneven) {
    const bool is_alltoall = call.collective == Collective::alltoall;
    call.counts = random_counts(random, is_alltoall ? call.size * call.size : call.size, call.size, call.count);
    if (is_alltoall && call.in_place != InPlace::no) make_symmetric(call.counts, call.size);
    call.count = 0;
  }
  call.algorithm = random_algorithm(random, call, on.nodes, elements * element);
}

void choose_messages(Call& call, Random& random, std::int64_t max_bytes) {
  const std::int64_t most = random_elements(random, size_of(call.type).value(), max_bytes / 2);
  const auto add = [&](int from, int to) { call.messages.push_back({from, to, random.between(0, most)}); };
  if (call.kind == Kind::batch) {
    const std::int64_t number = random.between(0, 3 * call.size);
    const auto any = [&] { return static_cast<int>(random.between(0, call.size - 1)); };
    for (std::int64_t i = 0; i < number; ++i) {
      const int from = any();
      add(from, any());
    }
  } else if (call.kind == Kind::sendrecv) {
    const int distance = static_cast<int>(random.between(0, call.size - 1));
    for (int from = 0; from < call.size; ++from)
      add(from, (from + distance) % call.size);
  } else {
    for (int from = 0; from < call.size; ++from)
      if (const int to = from ^ 1; to < call.size) add(from, to);
  }
}

Call random_call(std::uint64_t key, const CommunicatorShape& on, std::int64_t max_bytes) {
  Random random{key};
  Call call{.size = on.size, .key = key};
  call.type = static_cast<Type>(random.between(0, type_count - 1));
  // Besides the collectives, three kinds of messages.
  const std::int64_t kind = random.between(0, collective_count + 2);
  if (kind < collective_count) {
    call.collective = static_cast<Collective>(kind);
    choose_collective(call, random, on, max_bytes);
  } else {
    call.kind = static_cast<Kind>(kind - collective_count + 1);
    choose_messages(call, random, max_bytes);
  }
  return call;
}

}  // namespace

Step Generator::step(std::int64_t number, const std::vector<CommunicatorShape>& communicators) const {
  // All ranks of the world draw the same numbers here; each part of the world has calls of its own.
  Step step{.key = mixed({seed_, static_cast<std::uint64_t>(thread_), static_cast<std::uint64_t>(number)})};
  Random random{step.key};
  const std::int64_t calls = random.chance(50) ? 1 : random.between(2, 5);
  step.repetitions = random.chance(60) ? 1 : static_cast<int>(random.between(2, 4));
  bool all_return_at_once = true;
  for (std::int64_t i = 0; i < calls; ++i) {
    const auto chosen = static_cast<int>(random.between(0, static_cast<std::int64_t>(communicators.size()) - 1));
    const CommunicatorShape& on = communicators[static_cast<std::size_t>(chosen)];
    const std::uint64_t part = static_cast<std::uint64_t>(on.part), index = static_cast<std::uint64_t>(i);
    Call call = random_call(mixed({step.key, index, part}), on, calls == 1 ? max_ : max_ / 4);
    call.communicator = chosen;
    call.way = random.chance(calls == 1 ? 40 : 10) ? Way::blocking : random.chance(50) ? Way::async : Way::persistent;
    all_return_at_once = all_return_at_once && call.way != Way::blocking;
    step.calls.push_back(std::move(call));
  }
  step.has_mixed_order = calls > 1 && all_return_at_once && random.chance(60);
  return step;
}

}  // namespace tutti::differential
