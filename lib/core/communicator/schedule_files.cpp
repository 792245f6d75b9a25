#include "lib/core/communicator/schedule_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "lib/core/communicator/communicator_state.hpp"
#include "lib/core/communicator/introduction.hpp"
#include "lib/core/files/prover.hpp"
#include "lib/core/schedule/regions.hpp"
#include "lib/core/selection/rules.hpp"
#include "lib/watch/log.hpp"
#include "tutti/allreduce.hpp"
#include "tutti/broadcast.hpp"
#include "tutti/error.hpp"
#include "tutti/scatter.hpp"

namespace tutti::detail {
namespace {

namespace fs = std::filesystem;

std::string text_of(const std::string& path) {
  std::error_code why;
  if (!fs::is_regular_file(path, why))
    throw ArgumentError(fmt::format("{}: {}", path,
                                    why                           ? why.message()
                                    : fs::is_directory(path, why) ? "this is a folder"
                                                                  : "this is no file"));
  if (fs::file_size(path, why) > longest_schedule_file)
    throw ArgumentError(fmt::format("{}: it has more than {} bytes", path, longest_schedule_file));
  try {
    std::ifstream stream{path, std::ios::binary};
    std::string text{std::istreambuf_iterator<char>{stream}, {}};
    if (stream) return text;
  } catch (const std::ios_base::failure&) {  // said below
  }
  throw ArgumentError(fmt::format("{}: it cannot be read", path));
}

/// The scratch up to the last place that a step names: all ranks have about as much then, and one does not fail alone.
Count used_scratch(const Schedule& schedule) {
  Count end;
  for (const Step& step : schedule.steps)
    for_each_region(step.action, [&](const Region& region) {
      if (region.buffer == Buffer::scratch && region.count > Count{0})
        end = std::max(end, region.offset + region.count);
    });
  return end;
}

InPlace required(const ScheduleFile& file) { return file.is_in_place ? InPlace::everybodys : InPlace::nobodys; }

}  // namespace

std::shared_ptr<const FiledAlgorithm> proved(ScheduleFile file, std::string_view name) {
  for (Schedule& schedule : file.schedules)
    schedule.scratch = std::min(schedule.scratch, used_scratch(schedule));
  auto made = std::make_shared<FiledAlgorithm>(std::move(file), std::string{name});
  const ScheduleFile& its = made->file();
  const Problem problem = problem_of(its, Rank{0}, Count{its.chunks});
  const auto prove = [&](InPlace in_place) { return prover().prove(made->algorithm(), problem, in_place, {}); };
  const Proof proof = prove(required(its));
  if (proof.is_too_large) throw ArgumentError(fmt::format("{}: it has too many chunks to be proved", its.path));
  if (!proof.fault.empty()) throw ArgumentError(fmt::format("{}: not proved: {}", its.path, proof.fault));
  made->state_cost(proof.cost);
  made->find_chunks();
  made->serve_as_they_are(true);
  for (const InPlace in_place : {InPlace::nobodys, InPlace::everybodys, InPlace::that_of_even_ranks})
    if (!prove(in_place).fault.empty()) {
      made->serve_as_they_are(false);
      break;
    }
  return made;
}

namespace {

/// The file, read and proved once for as long as it does not change.
std::shared_ptr<const FiledAlgorithm> known(std::string_view name) {
  const std::string path{name.substr(file_prefix.size())};
  std::error_code none;
  const auto changed = fs::last_write_time(path, none);
  const auto size = fs::file_size(path, none);
  struct Known {
    fs::file_time_type changed;
    std::uintmax_t size = 0;
    std::shared_ptr<const FiledAlgorithm> algorithm;
  };
  static std::mutex mutex;
  static auto& all = *new std::map<std::string, Known, std::less<>>;  // never destroyed: calls may come after main
  const std::lock_guard lock{mutex};
  Known& its = all[fs::absolute(path, none)];
  if (its.algorithm == nullptr || its.changed != changed || its.size != size || its.algorithm->algorithm().name != name)
    its = {changed, size, proved(read_schedule_file(text_of(path), path), name)};
  return its.algorithm;
}

/// The word of rank 0 on a file: what follows is why it is refused or left out, or the schedules.
enum class Word : std::int64_t { refused, unfit, whole, parts };

struct Offer {
  Word word = Word::refused;
  std::string why{};
  std::vector<std::vector<std::int64_t>> parts{};  ///< One for all ranks, or one for each.
};

/// What rank 0 has to offer.
Offer offer_of(const CommunicatorState& state, Collective collective, const FoundSchedules& find) {
  try {
    const auto algorithm = find();
    const ScheduleFile& file = algorithm->file();
    if (file.collective != collective)
      throw ArgumentError(fmt::format("{}: its schedules are of {}, not of {}", file.path, to_string(file.collective),
                                      to_string(collective)));
    if (file.ranks != state.members().size())
      return {Word::unfit,
              fmt::format("{}: it is for {} ranks, not {}", file.path, file.ranks, state.members().size()),
              {}};
    // Inside a node, calls in streams play the schedules of all ranks together; so does the proof of plans.
    if (state.members().node_count() == 1 || state.settings().proves == ProveUse::all)
      return {Word::whole, "", {algorithm->words(std::nullopt)}};
    Offer offer{Word::parts};
    for (int rank = 0; rank < file.ranks; ++rank)
      offer.parts.push_back(algorithm->words(Rank{rank}));
    return offer;
  } catch (const std::exception& error) {
    return {Word::refused, error.what(), {}};
  }
}

std::string shared_why(const Communicator& comm, std::string why) {
  auto length = static_cast<std::int64_t>(why.size());
  broadcast(std::span{&length, 1}, Rank{0}, comm);
  why.resize(static_cast<std::size_t>(length));
  broadcast(std::span{why}, Rank{0}, comm);
  return why;
}

/// Ranks that name different files are told so.
void require_one_name(const Communicator& comm, std::string_view name) {
  const auto hash = static_cast<std::uint64_t>(std::hash<std::string_view>{}(name));
  std::array<std::uint64_t, 2> ends{hash, ~hash};
  allreduce(std::span{ends}, Op::min, comm);
  if (ends[0] == ~ends[1]) return;
  const std::string first = shared_why(comm, std::string{name});
  throw ArgumentError(
      fmt::format("tutti: rank {} names the algorithm '{}', and rank 0 '{}'; allowed: the same on all ranks",
                  comm.rank().value(), name, first));
}

std::vector<std::int64_t> shared_words(const Communicator& comm, const Offer& offer, bool is_whole) {
  std::vector<std::int64_t> lengths, all, own;
  for (const std::vector<std::int64_t>& part : offer.parts) {
    lengths.push_back(std::ssize(part));
    all.insert(all.end(), part.begin(), part.end());
  }
  std::int64_t length = is_whole && !lengths.empty() ? lengths[0] : 0;
  if (is_whole) {
    broadcast(std::span{&length, 1}, Rank{0}, comm);
    all.resize(static_cast<std::size_t>(length));
    broadcast(std::span{all}, Rank{0}, comm);
    return all;
  }
  scatter(std::span<const std::int64_t>{lengths}, std::span{&length, 1}, Rank{0}, comm);
  own.resize(static_cast<std::size_t>(length));
  scatterv(std::span<const std::int64_t>{all}, lengths, std::span{own}, Rank{0}, comm);
  return own;
}

}  // namespace

std::string share_schedules(const Communicator& comm, Collective collective, std::string_view name,
                            const FoundSchedules& find) {
  CommunicatorState& state = comm.state();
  require_one_name(comm, name);
  Offer offer;
  if (comm.rank() == Rank{0}) offer = offer_of(state, collective, find);
  auto word = static_cast<std::int64_t>(offer.word);
  broadcast(std::span{&word, 1}, Rank{0}, comm);
  offer.word = static_cast<Word>(word);
  if (offer.word == Word::refused)
    throw ArgumentError(fmt::format("tutti: algorithm '{}': {}", name, shared_why(comm, std::move(offer.why))));
  if (offer.word == Word::unfit) return shared_why(comm, std::move(offer.why));
  const std::vector<std::int64_t> words = shared_words(comm, offer, offer.word == Word::whole);
  state.add_file(named_file(collective, name), FiledAlgorithm::of_words(words));
  return "";
}

namespace {

/// Why the file is left out; empty: the communicator has it now.
std::string read_one(const Communicator& comm, Collective collective, std::string_view name) {
  return share_schedules(comm, collective, name, [&] { return known(name); });
}

/// Whether a rule may be for calls of this communicator.
bool may_hold(const Rule& rule, const Question& question) {
  return rule.when.ranks.contains(question.ranks) && rule.when.nodes.contains(question.nodes) &&
         rule.when.ppn.contains(question.ranks_per_node());
}

}  // namespace

void read_schedule_files(const Communicator& comm) {
  const CommunicatorState& state = comm.state();
  std::vector<std::tuple<Collective, std::string>> wanted;  // the same on all ranks
  const auto add = [&](Collective collective, const Choice& choice) {
    if (choice.algorithm == nullptr || !is_named_file(*choice.algorithm)) return;
    const std::tuple its{collective, std::string{choice.algorithm->name}};
    if (std::ranges::find(wanted, its) == wanted.end()) wanted.push_back(its);
  };
  for (int i = 0; i < collective_count; ++i) {
    const auto collective = static_cast<Collective>(i);
    add(collective, state.settings().algorithms.choices[static_cast<std::size_t>(i)]);
    if (state.rules() == nullptr) continue;
    for (const Rule& rule : state.rules()->of(collective))
      if (may_hold(rule, state.question())) add(collective, rule.choice);
  }
  static auto& told = *new std::set<std::string>;  // of files that were used, or not, which somebody was told
  for (const auto& [collective, name] : wanted) {
    const std::string why = read_one(comm, collective, name);
    if (comm.rank() != Rank{0}) continue;
    const Progress::Entry entry{state.progress()};
    if (told.insert(name).second && !why.empty())
      log::write(log::Level::warn, name_in_log(state), fmt::format("algorithm {} is not used: {}", name, why));
  }
}

void require_schedule_file(const Communicator& comm, Collective collective, std::string_view name) {
  if (name == file_prefix) throw ArgumentError("tutti: algorithm 'file:' names no file; allowed: file:PATH");
  const Question question = comm.state().question();
  if (question.files->contains(named_file(collective, name))) return;
  if (name.starts_with(own_schedule_prefix))
    throw ArgumentError(
        fmt::format("tutti: algorithm '{}': these schedules were proved for another communicator, or for "
                    "another collective than {}; needed: prove_schedule() here",
                    name, to_string(collective)));
  if (const std::string why = read_one(comm, collective, name); !why.empty())
    throw ArgumentError(fmt::format("tutti: algorithm '{}': {}", name, why));
}

}  // namespace tutti::detail
