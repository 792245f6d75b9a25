// Programs for streams: proved for every algorithm, and refuted with one fault.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "lib/device/staging/stage.hpp"
#include "lib/device/stream/program.hpp"
#include "lib/proof/plan_checker/prove_plans.hpp"
#include "lib/proof/plan_checker/prove_programs.hpp"
#include "tests/checker/plan_cases.hpp"
#include "tutti/error.hpp"

namespace tutti::checker {
namespace {

/// Ranks whose blocks differ in size, some empty, or lie apart.
void list_blocks(PlanCase& what, std::mt19937& random) {
  const Collective collective = what.choice.algorithm->collective;
  if (collective < Collective::reduce_scatter || collective > Collective::alltoall || random() % 2 == 0) return;
  const int blocks = what.what.size * (collective == Collective::alltoall ? what.what.size : 1);
  const bool is_even = random() % 2 == 0;
  const bool is_symmetric = collective == Collective::alltoall;
  what.what.counts.clear();
  for (int i = 0; i < blocks; ++i)
    what.what.counts.emplace_back(is_even ? 5 : (i % what.what.size + (is_symmetric ? i / what.what.size : 0)) % 4);
  what.what.gap = Count{static_cast<int>(random() % 3)};
}

PlanCase stream_case_of(const Algorithm& algorithm, int ranks, std::mt19937& random) {
  PlanCase what = case_of(algorithm, ranks, {}, random);
  list_blocks(what, random);
  return what;
}

/// Whether the receiver of a message reads it before it waits for a later one of the same sender: only then does it
/// matter when it is told of that message. Messages that do not land are taken to be read so.
bool is_read_before_the_next(const std::vector<stream::Program>& all, int sender, int receiver, std::uint32_t number) {
  using stream::Does;
  using Of = stream::Spot::Of;
  const auto& commands = all[static_cast<std::size_t>(sender)].commands;
  const auto tells = [&](const stream::Command& command) {
    return command.does == Does::tell && command.peer == receiver;
  };
  std::vector<std::pair<std::int64_t, std::int64_t>> places;  // in the landing area
  for (const stream::Command& command : commands) {
    for (const stream::Spot& spot : command.outputs)
      if (spot.of == Of::remote && spot.peer == receiver) places.emplace_back(spot.at, spot.at + command.bytes);
    if (tells(command) && command.number >= number) break;
    if (tells(command)) places.clear();
  }
  std::uint32_t waited = 0;
  for (const stream::Command& command : all[static_cast<std::size_t>(receiver)].commands) {
    if (command.does == Does::wait_for_message && command.peer == sender) waited = std::max(waited, command.number);
    for (const stream::Spot& spot : command.inputs)
      if (spot.of == Of::landing && spot.peer == sender)
        for (const auto& [begin, end] : places)
          if (spot.at < end && spot.at + command.bytes > begin) return waited <= number;
    const auto is_lent_input = [&](const stream::Spot& spot) {
      return spot.of == Of::lent && spot.peer == sender && spot.buffer == Buffer::input;
    };
    // An input does not change, so that it may be read once the peer has begun, as it tells with its first message.
    if (places.empty() && waited == number && std::ranges::any_of(command.inputs, is_lent_input)) return number == 1;
  }
  return places.empty();
}

/// Whether each read of a message in the receiver's landing area comes behind its writing for other reasons than the
/// flag of that message: by messages of others, which have waited for the sender.
bool is_told_by_others(const std::vector<stream::Program>& all, int sender, int receiver, std::uint32_t number) {
  using stream::Does;
  using Place = std::pair<std::size_t, std::size_t>;  // rank, command
  const auto commands_of = [&](std::size_t rank) -> const auto& { return all[rank].commands; };
  const auto tell_of = [&](int from, int to, std::uint32_t its) {
    const auto& commands = commands_of(static_cast<std::size_t>(from));
    return std::ranges::find_if(commands,
                                [&](const stream::Command& command) {
                                  return command.does == Does::tell && command.peer == to && command.number >= its;
                                }) -
           commands.begin();
  };
  const auto from = static_cast<std::size_t>(sender), to = static_cast<std::size_t>(receiver);
  const auto told = static_cast<std::size_t>(tell_of(sender, receiver, number));
  const auto is_behind = [&](std::size_t read, std::size_t written) {
    std::set<Place> seen;
    std::vector<Place> rest{{to, read}};
    while (!rest.empty()) {
      const Place place = rest.back();
      rest.pop_back();
      if (place == Place{from, written}) return true;
      if (!seen.insert(place).second) continue;
      if (place.second > 0) rest.emplace_back(place.first, place.second - 1);
      const stream::Command& command = commands_of(place.first)[place.second];
      const bool is_it = command.peer == sender && place.first == to && command.number == number;
      if (command.does == Does::wait_for_message && !is_it)
        rest.emplace_back(static_cast<std::size_t>(command.peer),
                          tell_of(command.peer, static_cast<int>(place.first), command.number));
    }
    return false;
  };
  for (std::size_t write = told; write-- > 0;) {
    const stream::Command& writing = commands_of(from)[write];
    if (writing.does == Does::tell && writing.peer == receiver) break;
    for (const stream::Spot& spot : writing.outputs) {
      if (spot.of != stream::Spot::Of::remote || spot.peer != receiver) continue;
      for (std::size_t read = 0; read < commands_of(to).size(); ++read)
        for (const stream::Spot& its : commands_of(to)[read].inputs)
          if (its.of == stream::Spot::Of::landing && its.peer == sender && its.at < spot.at + writing.bytes &&
              spot.at < its.at + commands_of(to)[read].bytes && !is_behind(read, write))
            return false;
    }
  }
  return true;
}

/// Whether a mutant must be refuted: not if it changes when a message is told of that is read only behind a later one,
/// or behind messages of others that have waited for it.
bool is_faulty(const std::vector<stream::Program>& all, int rank, const ProgramMutant& mutant) {
  const auto& commands = all[static_cast<std::size_t>(rank)].commands;
  if (mutant.mutation == ProgramMutation::readers_left) return true;
  const stream::Command& command = commands[static_cast<std::size_t>(mutant.command)];
  if (command.does == stream::Does::wait_for_message)
    return is_read_before_the_next(all, command.peer, rank, command.number) &&
           !is_told_by_others(all, command.peer, rank, command.number);
  return mutant.mutation != ProgramMutation::told_too_early ||
         (is_read_before_the_next(all, rank, command.peer, command.number) &&
          !is_told_by_others(all, rank, command.peer, command.number));
}

using Make = std::vector<stream::Program> (*)(const Plans&);
/// Programs whose messages land, and those that reach the buffers of peers.
class EveryProgram : public testing::TestWithParam<Make> {};
INSTANTIATE_TEST_SUITE_P(All, EveryProgram, testing::Values(programs_of, direct_programs_of), [](const auto& info) {
  return std::string{info.param == Make{programs_of} ? "landing" : "direct"};
});

TEST_P(EveryProgram, IsProvedForEveryAlgorithm) {
  int programs = 0, commands = 0;
  constexpr int most_ranks = 17;
  for (const Algorithm* algorithm : algorithms()) {
    std::mt19937 random{7};
    for (int ranks = 1; ranks <= most_ranks; ++ranks)
      for (int again = 0; again < (ranks <= 9 ? 6 : 1); ++again) {
        const PlanCase what = stream_case_of(*algorithm, ranks, random);
        const Plans plans{what, on_devices};
        const std::vector<stream::Program> all = GetParam()(plans);
        ASSERT_EQ(fault_of(plans, all), "") << text_of(what);
        for (const stream::Program& program : all)
          commands += static_cast<int>(program.commands.size());
        programs += ranks;
      }
  }
  fmt::print("{} programs of {} commands proved\n", programs, commands);
  EXPECT_GT(programs, 20'000);
}

TEST_P(EveryProgram, WithAFaultIsRefused) {
  std::array<int, program_mutation_count> made{};
  for (const Algorithm* algorithm : algorithms()) {
    std::mt19937 random{8};
    for (int ranks = 2; ranks <= 5; ++ranks) {
      const PlanCase what = stream_case_of(*algorithm, ranks, random);
      const Plans plans{what, on_devices};
      const std::vector<stream::Program> all = GetParam()(plans);
      for (std::size_t rank = 0; rank < all.size(); ++rank)
        for (ProgramMutant& mutant : mutants_of(all[rank])) {
          if (!is_faulty(all, static_cast<int>(rank), mutant)) continue;
          std::vector<stream::Program> changed = all;
          changed[rank] = std::move(mutant.program);
          ++made[static_cast<std::size_t>(mutant.mutation)];
          EXPECT_NE(fault_of(plans, changed), "") << text_of(what) << ", rank " << rank << ", command "
                                                  << mutant.command << ": " << to_string(mutant.mutation);
        }
    }
  }
  for (int i = 0; i < program_mutation_count; ++i) {
    fmt::print("{} refuted: {}\n", made[static_cast<std::size_t>(i)], to_string(static_cast<ProgramMutation>(i)));
    const auto mutation = static_cast<ProgramMutation>(i);
    const bool is_of_direct = mutation >= ProgramMutation::pulled_too_early;
    if (!is_of_direct || GetParam() == Make{direct_programs_of}) {
      EXPECT_GT(made[static_cast<std::size_t>(i)], is_of_direct ? 20 : 100);
    }
  }
}

/// Counts the programs that need no plan of their own in place.
TEST(Programs, OfPlansThatAreApartMayBeInPlace) {
  int in_place = 0, other = 0;
  for (const Algorithm* algorithm : algorithms()) {
    std::mt19937 random{9};
    for (int ranks = 1; ranks <= 9; ++ranks)
      for (int again = 0; again < 4; ++again) {
        PlanCase what = case_of(*algorithm, ranks, {}, random);
        what.what.placement = Placement::in_place;
        const Plans plans{what, on_devices};
        what.what.placement = Placement::separate;
        const Plans apart{what, on_devices};
        std::vector<stream::Program> programs = programs_of(plans);
        for (int rank = 0; rank < ranks; ++rank) {
          if (plans.problems().of(Rank{rank}).aliasing != Aliasing::in_place()) continue;
          auto program = stream::program_in_place(apart.of(Rank{rank}));
          ++(program ? in_place : other);
          if (program) programs[static_cast<std::size_t>(rank)] = std::move(*program);
        }
        ASSERT_EQ(fault_of(plans, programs), "") << text_of(what);
      }
  }
  fmt::print("{} programs in place proved, {} need plans of their own\n", in_place, other);
  EXPECT_GT(in_place, 2'000);
}

/// Peers read a copy of the input, where the input would be written over.
TEST(Programs, ThatReachPeersMayHaveACopyOfTheInput) {
  int on_copies = 0;
  for (const Algorithm* algorithm : algorithms()) {
    if (algorithm->collective != Collective::allreduce) continue;
    std::mt19937 random{10};
    for (int ranks = 2; ranks <= 9; ++ranks) {
      PlanCase what = case_of(*algorithm, ranks, {}, random);
      what.what.placement = Placement::separate;
      const Plans apart{what, on_devices};
      what.what.placement = random() % 2 == 0 ? Placement::in_place : Placement::in_place_on_even_ranks;
      Plans plans{what, on_devices};
      for (Rank rank; rank.value() < ranks; rank = Rank{rank.value() + 1}) {
        if (plans.problems().of(rank).aliasing != Aliasing::in_place()) continue;
        if (plans.of(rank).joints.size() >= apart.of(rank).joints.size()) continue;
        plans.of(rank) = renumbered(device::on_copy_of_input(apart.of(rank), what.what.count.value() * 8));
        ++on_copies;
      }
      ASSERT_EQ(fault_of(plans, direct_programs_of(plans)), "") << text_of(what);
    }
  }
  EXPECT_GT(on_copies, 10);
}

/// The kernels and copies of the textbook, and one wait and one write of a flag for each message and for its room.
TEST(Programs, OfAnAllreduceAreShort) {
  for (int ranks = 2; ranks <= 8; ++ranks) {
    const auto counts_on = [&](std::string_view name, int rank) {
      PlanCase what{.choice = {.algorithm = find_algorithm(Collective::allreduce, name)}};
      what.what = {.size = ranks, .count = Count{5 * ranks}};
      const Plans plans{what, on_devices};
      return stream::counts_of(stream::program_of(plans.of(Rank{rank})));
    };
    for (int rank = 0; rank < ranks; ++rank) {
      const stream::Counts one = counts_on("one_shot", rank);
      EXPECT_EQ(one.kernels + one.copies, 2) << "the input goes to all peers at once, and a kernel reads all inputs";
      EXPECT_EQ(one.waits, 2 * (ranks - 1));
      EXPECT_EQ(one.writes, 2 * (ranks - 1));
      const stream::Counts two = counts_on("two_shot", rank);
      EXPECT_EQ(two.kernels, 1) << "it also writes its result to all peers";
      EXPECT_EQ(two.copies, 2 * (ranks - 1));
      EXPECT_EQ(two.waits, 3 * (ranks - 1)) << "for room once, for two messages";
      EXPECT_EQ(two.writes, 3 * (ranks - 1));
    }
  }
}

/// Every byte of the inputs is read once, and every byte of the outputs written once; or read by all in one launch.
TEST(Programs, ThatReachPeersMoveTheLeast) {
  for (int ranks = 2; ranks <= 8; ++ranks)
    for (const bool is_in_place : {false, true}) {
      const auto programs_with = [&](Collective collective, std::string_view name, int parameter = 0) {
        PlanCase what{.choice = {.algorithm = find_algorithm(collective, name), .parameter = parameter}};
        what.what = {.size = ranks, .count = Count{5 * ranks}, .parameter = parameter};
        if (is_in_place) what.what.placement = Placement::in_place;
        return direct_programs_of(Plans{what, on_devices});
      };
      const auto traffic_of = [](const stream::Program& program) {
        std::int64_t bytes = 0;
        for (const stream::Command& command : program.commands)
          bytes += std::ssize(command.inputs) * command.bytes + std::ssize(command.outputs) * command.bytes;
        return bytes;
      };
      const std::int64_t n = std::int64_t{8} * 5 * ranks;
      for (const stream::Program& program : programs_with(Collective::allreduce, "two_shot")) {
        EXPECT_EQ(traffic_of(program), 2 * n) << ranks << " ranks";
        const stream::Counts counts = stream::counts_of(program);
        EXPECT_EQ(counts.kernels + counts.copies, 1);
        EXPECT_EQ(counts.waits, 3 * (ranks - 1)) << "for the last program, for the inputs, for the results";
        EXPECT_EQ(counts.writes, 3 * (ranks - 1));
        EXPECT_EQ(program.part_bytes, 0) << "nothing lands";
      }
      int rank = 0;
      for (const stream::Program& program : programs_with(Collective::broadcast, "knomial", 32))
        EXPECT_EQ(traffic_of(program), rank++ == 0 && is_in_place ? 0 : 2 * n) << ranks << " ranks";
      const std::int64_t blocks = is_in_place ? ranks - 1 : ranks;
      for (const stream::Program& program : programs_with(Collective::allgather, "one_shot"))
        EXPECT_EQ(traffic_of(program), 2 * n * blocks);
      if (is_in_place) continue;
      for (const stream::Program& program : programs_with(Collective::allreduce, "one_shot"))
        EXPECT_EQ(traffic_of(program), (ranks + 1) * n);
      for (const stream::Program& program : programs_with(Collective::reduce_scatter, "one_shot"))
        EXPECT_EQ(traffic_of(program), (ranks + 1) * n);
      for (const stream::Program& program : programs_with(Collective::alltoall, "linear"))
        EXPECT_EQ(traffic_of(program), 2 * n * ranks);
    }
}

TEST(Programs, OfPlansThatLeaveTheNodeAreRefused) {
  PlanCase what{.choice = {.algorithm = find_algorithm(Collective::allreduce, "ring")}, .nodes = {0, 1}};
  what.what = {.size = 2, .count = Count{4}};
  const Plans plans{what, on_devices};
  EXPECT_THROW(static_cast<void>(programs_of(plans)), Error);
}

}  // namespace
}  // namespace tutti::checker
