#include "apps/soak/generator.hpp"

#include <algorithm>
#include <bit>

#include "apps/soak/choices.hpp"
#include "apps/soak/random.hpp"
#include "apps/soak/types.hpp"
#include "tutti/algorithm.hpp"

namespace tutti::soak {
namespace {

bool has_blocks(Collective collective) {
  return collective >= Collective::reduce_scatter && collective <= Collective::alltoall;
}

/// Each power of two has the same share up to `most_bytes`; exact ones, and numbers near them, are frequent.
std::int64_t random_elements(Random& random, std::int64_t element, std::int64_t most_bytes) {
  if (random.chance(5)) return 0;
  if (random.chance(10)) return random.between(1, 20);
  const auto most_bits = static_cast<int>(std::bit_width(static_cast<std::size_t>(most_bytes - 1)));
  const std::int64_t power = std::int64_t{1} << random.between(0, most_bits);
  const std::int64_t bytes = random.chance(40) ? power : random.between(power / 2, power);
  const std::int64_t elements = std::min(bytes, most_bytes) / element;
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
  const auto ranks = static_cast<std::size_t>(size);
  const auto at = [&](std::size_t a, std::size_t b) -> std::int64_t& { return counts[a * ranks + b]; };
  for (std::size_t a = 0; a < ranks; ++a)
    for (std::size_t b = 0; b < a; ++b)
      at(a, b) = at(b, a);
}

/// Alltoall lists a count for each pair of ranks.
constexpr int most_ranks_of_uneven_alltoall = 512;

void choose_collective(Call& call, Random& random, const CommunicatorShape& on, std::int64_t most_bytes) {
  call.root = static_cast<int>(random.between(0, call.size - 1));
  if (reduces(call.collective)) call.op = random_op(random, call.collective, call.type);
  call.in_place = random.chance(50) ? InPlace::no : random.chance(60) ? InPlace::on_all_ranks : InPlace::on_some_ranks;
  const std::int64_t element = size_of(call.type).value();
  const std::int64_t elements =
      call.collective == Collective::barrier ? 0 : random_elements(random, element, most_bytes);
  call.count = elements;
  if (has_blocks(call.collective)) {
    call.count = elements / call.size;
    const bool lists_pairs = call.collective == Collective::alltoall;
    call.is_uneven = random.chance(50) && (!lists_pairs || call.size <= most_ranks_of_uneven_alltoall);
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

void choose_messages(Call& call, Random& random, std::int64_t most_bytes) {
  const std::int64_t most = random_elements(random, size_of(call.type).value(), most_bytes / 2);
  const auto add = [&](int from, int to) { call.messages.push_back({from, to, random.between(0, most)}); };
  if (call.kind == Kind::batch) {
    const std::int64_t number = random.between(0, std::int64_t{3} * call.size);
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

Call random_call(std::uint64_t key, const Repertoire& repertoire, const CommunicatorShape& on,
                 std::int64_t most_bytes) {
  Random random{key};
  Call call{.size = on.size, .key = key};
  call.type = static_cast<Type>(random.between(0, drawn_types - 1));
  const int name = random.one_of(repertoire.names);
  if (name < collective_count) {
    call.collective = static_cast<Collective>(name);
    call.by_mpi = random.chance(75) && repertoire.asks_mpi;
    choose_collective(call, random, on, most_bytes);
  } else {
    call.kind = static_cast<Kind>(name - collective_count + 1);
    choose_messages(call, random, most_bytes);
  }
  return call;
}

/// A step of one call has any way alike. Of several, few are blocking, so that many are under way at once.
Way random_way(Random& random, const std::vector<Way>& ways, std::size_t calls) {
  const Way way = random.one_of(ways);
  return way == Way::blocking && calls > 1 && random.chance(70) ? random.one_of(ways) : way;
}

}  // namespace

std::vector<StepOutline> Generator::outlines(std::int64_t round) const {
  Random random{mixed({seed_, static_cast<std::uint64_t>(thread_), 0x0a, static_cast<std::uint64_t>(round)})};
  std::vector<StepOutline> outlines;
  const std::int64_t end = (round + 1) * calls_of_round;
  for (std::int64_t number = round * calls_of_round; number < end; number = outlines.back().end()) {
    const std::int64_t calls = std::min(end - number, random.chance(50) ? 1 : random.between(2, 5));
    const std::int64_t repetitions = std::min((end - number) / calls, random.chance(60) ? 1 : random.between(2, 4));
    outlines.push_back({number, static_cast<int>(calls), static_cast<int>(repetitions)});
  }
  return outlines;
}

Step Generator::step(const StepOutline& outline, const std::vector<CommunicatorShape>& communicators) const {
  // All ranks of the world draw the same numbers here; each part of the world has calls of its own.
  Step step{.first_call = outline.first_call, .repetitions = outline.repetitions};
  step.key = mixed({seed_, static_cast<std::uint64_t>(thread_), static_cast<std::uint64_t>(outline.first_call)});
  Random random{step.key};
  const auto calls = static_cast<std::size_t>(outline.calls);
  const std::int64_t most_bytes = calls == 1 ? repertoire_.most_bytes : repertoire_.most_bytes / 4;
  bool all_return_at_once = true;
  for (std::size_t i = 0; i < calls; ++i) {
    const auto chosen = static_cast<int>(random.between(0, static_cast<std::int64_t>(communicators.size()) - 1));
    const CommunicatorShape& on = communicators[static_cast<std::size_t>(chosen)];
    const auto part = static_cast<std::uint64_t>(on.part);
    Call call = random_call(mixed({step.key, i, part}), repertoire_, on, most_bytes);
    call.communicator = chosen;
    call.way = random_way(random, repertoire_.ways, calls);
    all_return_at_once = all_return_at_once && call.way != Way::blocking;
    step.calls.push_back(std::move(call));
  }
  step.has_mixed_order = calls > 1 && all_return_at_once && random.chance(60);
  return step;
}

}  // namespace tutti::soak
