#include "tutti/own_schedule.hpp"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "lib/core/communicator/communicator_state.hpp"
#include "lib/core/communicator/schedule_files.hpp"
#include "lib/core/files/words.hpp"
#include "lib/core/selection/rules.hpp"
#include "tutti/allreduce.hpp"
#include "tutti/error.hpp"
#include "tutti/gather.hpp"

namespace tutti {
namespace {

constexpr std::string_view path = "own schedule";

/// What all ranks say alike.
std::array<std::int64_t, 6> facts_of(const OwnSchedule& own) {
  return {static_cast<std::int64_t>(own.collective),
          own.chunks,
          own.root.value(),
          own.is_commutative ? 1 : 0,
          own.is_in_place ? 1 : 0,
          static_cast<std::int64_t>(own.bits)};
}

std::vector<std::int64_t> words_of(const OwnSchedule& own) {
  WordWriter writer;
  for (const std::int64_t fact : facts_of(own))
    writer.put(fact);
  writer.put(own.schedule);
  return std::move(writer).words();
}

/// A number that tells the schedules of all ranks from others.
std::uint64_t id_of(const std::vector<std::int64_t>& words, const Communicator& comm) {
  std::uint64_t hash = 0xcbf29ce484222325U + static_cast<std::uint64_t>(comm.rank().value());
  for (const std::int64_t word : words) {
    hash = (hash ^ static_cast<std::uint64_t>(word)) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 32U;
  }
  allreduce(std::span{&hash, 1}, Op::sum, comm);
  return hash;
}

/// The words of all ranks on rank 0, one after the other, and how many each has.
struct Gathered {
  std::vector<std::int64_t> lengths{}, words{};
};
Gathered gathered(const std::vector<std::int64_t>& own, const Communicator& comm) {
  Gathered all;
  const bool is_root = comm.rank() == Rank{0};
  if (is_root) all.lengths.resize(static_cast<std::size_t>(comm.size()));
  const std::int64_t length = std::ssize(own);
  gather(std::span{&length, 1}, std::span{all.lengths}, Rank{0}, comm);
  std::int64_t sum = 0;
  for (const std::int64_t each : all.lengths)
    sum += each;
  all.words.resize(static_cast<std::size_t>(sum));
  gatherv(std::span<const std::int64_t>{own}, std::span{all.words}, all.lengths, Rank{0}, comm);
  return all;
}

ScheduleFile joined(const Gathered& all, const OwnSchedule& own) {
  ScheduleFile file{.path = std::string{path}, .title = "built by the program"};
  file.collective = own.collective;
  file.ranks = static_cast<int>(all.lengths.size());
  file.chunks = own.chunks;
  file.root = own.root;
  file.is_commutative = own.is_commutative;
  file.is_in_place = own.is_in_place;
  file.bits = own.bits;
  if (file.chunks < 1 || file.chunks > most_chunks)
    throw ArgumentError(fmt::format("{}: 'chunks' is {}; allowed: 1 to {}", path, file.chunks, most_chunks));
  if (file.root.value() < 0 || file.root.value() >= file.ranks)
    throw ArgumentError(fmt::format("{}: 'root' is {}; allowed: 0 to {}", path, file.root.value(), file.ranks - 1));
  std::span<const std::int64_t> rest{all.words};
  for (std::size_t rank = 0; rank < all.lengths.size(); ++rank) {
    WordReader reader{rest.first(static_cast<std::size_t>(all.lengths[rank]))};
    for (const std::int64_t fact : facts_of(own))
      if (reader.number() != fact)
        throw ArgumentError(
            fmt::format("{}: rank {} has another collective, number of chunks, root or requirement than "
                        "rank 0; allowed: the same on all ranks",
                        path, rank));
    file.schedules.push_back(reader.schedule());
    const std::int64_t scratch = file.schedules.back().scratch.value();
    if (scratch < 0 || scratch > most_chunks_in_all)
      throw ArgumentError(fmt::format("{}: rank {} has {} chunks of scratch; allowed: 0 to {}", path, rank, scratch,
                                      most_chunks_in_all));
    rest = rest.subspan(static_cast<std::size_t>(all.lengths[rank]));
  }
  return file;
}

detail::Call call_of(const OwnSchedule& own, const void* in, void* out, Count count, Type type, const Op& op) {
  return {.function = "run",
          .collective = own.collective,
          .in = in,
          .out = out,
          .count = count,
          .type = type,
          .op = op,
          .root = own.root};
}

}  // namespace

std::string prove_schedule(const OwnSchedule& own, const Communicator& comm) {
  static_cast<void>(to_string(own.collective));  // which is one
  const std::vector<std::int64_t> words = words_of(own);
  std::string name = fmt::format("{}{:016x}", detail::own_schedule_prefix, id_of(words, comm));
  if (comm.state().question().files->contains(named_file(own.collective, name))) return name;
  const Gathered all = gathered(words, comm);
  const std::string why =
      detail::share_schedules(comm, own.collective, name, [&] { return detail::proved(joined(all, own), name); });
  if (!why.empty()) throw ArgumentError(fmt::format("tutti: {}", why));
  return name;
}

void run(const OwnSchedule& own, const void* in, void* out, Count count, Type type, const Op& op,
         const Communicator& comm) {
  const std::string name = prove_schedule(own, comm);
  detail::run(call_of(own, in, out, count, type, op), comm, {.algorithm = name});
}

namespace detail {

Count count_of(const OwnSchedule& own, std::size_t in, std::size_t out, const Communicator& comm) {
  Problem problem{.rank = comm.rank(), .size = comm.size()};
  problem.collective = own.collective;
  problem.root = own.root;
  // A buffer of one element for each of the count says what the count is.
  problem.count = Count{1};
  const Shape one = shape_of(problem);
  const bool has_input = one.input > Count{0};
  const auto share = static_cast<std::size_t>((has_input ? one.input : std::max(one.output, Count{1})).value());
  problem.count = Count{static_cast<std::int64_t>((has_input ? in : out) / share)};
  const Shape needed = shape_of(problem);
  for (const auto& [name, given, least] :
       {std::tuple{"in", in, needed.input.value()}, std::tuple{"out", out, needed.output.value()}})
    if (least > 0 && static_cast<std::int64_t>(given) != least)
      throw ArgumentError(
          fmt::format("tutti::run on rank {}: argument '{}' has {} elements; allowed: {}, as the other "
                      "buffer says",
                      comm.rank().value(), name, given, least));
  return problem.count;
}

}  // namespace detail
}  // namespace tutti
