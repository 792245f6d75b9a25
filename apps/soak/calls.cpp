#include "apps/soak/calls.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "tutti/algorithm.hpp"

namespace tutti::soak {
namespace {

// ---- Texts

std::string_view to_string(InPlace in_place) {
  return in_place == InPlace::no             ? "separate"
         : in_place == InPlace::on_all_ranks ? "in place"
                                             : "in place on some ranks";
}

std::string_view to_string(Kind kind) {
  return kind == Kind::batch ? "batch" : kind == Kind::sendrecv ? "sendrecv" : "send";
}

/// The numbers, or the first of them if they are many.
template <class Each>
std::string listed(std::size_t count, Each each) {
  constexpr std::size_t most = 16;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(count, most); ++i)
    texts.push_back(each(i));
  return fmt::format("{}{}", fmt::join(texts, " "), count > most ? " ..." : "");
}

std::string sizes_of(const Call& call) {
  if (call.kind != Kind::collective)
    return listed(call.messages.size(), [&](std::size_t i) {
      const Message& message = call.messages[i];
      return fmt::format("{}>{}:{}", message.from, message.to, message.count);
    });
  if (!call.is_uneven) return std::to_string(call.count);
  return fmt::format("({})", listed(call.counts.size(), [&](std::size_t i) { return std::to_string(call.counts[i]); }));
}

// ---- Choices

std::string random_parameter(Random& random, const Parameter& parameter) {
  if (parameter.name.empty() || random.chance(40)) return "";
  const bool is_bytes = parameter.unit == Parameter::Unit::bytes;
  // Large numbers of blocks make long schedules that show nothing new.
  const int most = std::min(parameter.most, is_bytes ? 1 << 15 : parameter.least + (random.chance(80) ? 6 : 40));
  return fmt::format(":{}", random.between(parameter.least, most));
}

/// An operation that the type has: any of Tutti's, or a user's, commutative or not.
Op random_op(Random& random, Collective collective, Type type) {
  if (random.chance(15)) return bench::user_op(random.chance(50) ? Commutative::yes : Commutative::no, type);
  const bool is_prefix = collective == Collective::scan || collective == Collective::exscan;
  std::vector<Op> allowed;
  for (const Op& op : {Op::sum, Op::prod, Op::min, Op::max, Op::avg, Op::land, Op::lor, Op::lxor, Op::band, Op::bor,
                       Op::bxor, Op::exact_sum, Op::scaled_sum(-0.375)})
    if (supports(op.kind(), type) && !(is_prefix && op == Op::avg)) allowed.push_back(op);
  return random.one_of(allowed);
}

/// As TUTTI_BITS says: then the algorithms that a call may name are fewer.
bool asks_for_fixed_order() {
  const char* const bits = std::getenv("TUTTI_BITS");
  return bits != nullptr && std::string_view{bits}.starts_with("fixed");
}

/// Any registered algorithm that serves the call on these nodes, with any parameter and segments, as Options take it;
/// or "", for Tutti's own choice. `bytes`: of the longer buffer of a rank; there are at most some 40 segments of it.
std::string random_algorithm(Random& random, const Call& call, const std::vector<int>& nodes, std::int64_t bytes) {
  if (random.chance(30)) return "";
  const bool needs_order = reduces(call.collective) && !call.op.commutative();
  const bool needs_all = reduces(call.collective) && call.op == Op::exact_sum && call.size > 2;
  const bool needs_fixed = reduces(call.collective) && !needs_all && asks_for_fixed_order();
  std::vector<const Algorithm*> fitting;
  for (const Algorithm* algorithm : algorithms())
    if (algorithm->collective == call.collective && (!needs_order || order_on(nodes, *algorithm) == Order::of_ranks) &&
        (!needs_all || algorithm->gathers) && (!needs_fixed || algorithm->bits == Bits::fixed))
      fitting.push_back(algorithm);
  const Algorithm& algorithm = *random.one_of(fitting);
  std::string text = std::string{algorithm.name} + random_parameter(random, algorithm.parameter);
  if (call.collective != Collective::barrier && random.chance(25))
    text += fmt::format("/{}", std::max<std::int64_t>(1, bytes / random.between(1, 40)));
  return text;
}

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

std::vector<std::string> call_names() {
  std::vector<std::string> names;
  names.reserve(name_count);
  for (int i = 0; i < collective_count; ++i)
    names.emplace_back(tutti::to_string(static_cast<Collective>(i)));
  for (const Kind kind : {Kind::batch, Kind::sendrecv, Kind::send})
    names.emplace_back(to_string(kind));
  return names;
}

std::string to_text(const Call& call) {
  const bool is_collective = call.kind == Kind::collective;
  std::string text{is_collective ? tutti::to_string(call.collective) : to_string(call.kind)};
  if (is_collective) text += fmt::format(" '{}'", call.algorithm.empty() ? "auto" : call.algorithm);
  text += fmt::format(" of {} {}", sizes_of(call), tutti::to_string(call.type));
  if (is_collective && reduces(call.collective)) {
    text += fmt::format(", {}", tutti::to_string(call.op.kind()));
    if (!call.op.commutative()) text += " (noncommutative)";
    if (call.op.kind() == Op::Kind::scaled_sum) text += fmt::format(" {}", call.op.scale());
  }
  if (is_collective && has_root(call.collective)) text += fmt::format(", root {}", call.root);
  text += fmt::format(", {}, {}", way_names[static_cast<std::size_t>(call.way)], to_string(call.in_place));
  if (call.has_gaps) text += ", gaps";
  return text + fmt::format(", communicator {} of {} ranks", call.communicator, call.size);
}

bool is_in_place(const Call& call, int rank) {
  if (call.in_place != InPlace::on_some_ranks) return call.in_place == InPlace::on_all_ranks;
  return Random{mixed({call.key, 0x70, static_cast<std::uint64_t>(rank)})}.chance(50);
}

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
