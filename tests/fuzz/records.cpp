// The records of processes, in memory that any of them may have overwritten, in words (hang reports, tutti ps): an
// input is what was written there, each part with its place and its length before it.
#include <algorithm>

#include "apps/tutti/ps_survey.hpp"
#include "lib/core/memory/aligned_buffer.hpp"
#include "lib/watch/records/situation.hpp"
#include "lib/watch/records/text.hpp"
#include "tests/fuzz/target.hpp"

namespace tutti::fuzz {
namespace {

using namespace records;

constexpr int processes = 2;

/// A process that has made a call.
void open(Journal& journal, int rank) {
  Identity identity{.rank = rank, .ranks = processes};
  identity.host = {"node"};
  identity.program = {"program"};
  journal.open(identity);
  const Signature call{
      .action = records::Action::allreduce, .count = 8, .rank = rank, .ranks = processes, .algorithm = 20};
  journal.record(1).enter(1, 0, pack(call), 41, Manner::blocking);
  journal.record(1).set_wait(1, {Wait::For::message_from, 3, 1 - rank});
}

void overwrite(Source& source, std::span<std::byte> memory) {
  while (!source.is_over()) {
    const std::size_t at = source.next<std::uint16_t>() % memory.size(), length = source.next<std::uint8_t>();
    for (std::size_t i = at; i < std::min(at + length, memory.size()); ++i)
      memory[i] = static_cast<std::byte>(source.next<std::uint8_t>());
  }
}

void show(const Journal& journal, const Signature& mine, std::int64_t now, std::vector<Situation>& all) {
  all.push_back(situation_of(journal, mine, now));
  for (const Entry& entry : journal.latest(kept)) {
    require(!mismatch_in_words(mine, entry.call).empty(), "a call has no words");
    static_cast<void>(in_words(entry.wait));
  }
  static_cast<void>(closing_of(journal, mine.communicator));
  if (const auto failure = journal.failure_of(mine.communicator))
    require(failure->why.size() < 1016, "a failure is longer than its place");
}

void run(Input input) {
  Source source{input};
  const auto bytes = static_cast<std::size_t>(Journal::bytes_of(processes));
  AlignedBuffer buffer{bytes};
  const std::span<std::byte> memory{buffer.data(), bytes};
  std::ranges::fill(memory, std::byte{0});
  for (int rank = 0; rank < processes; ++rank)
    open(Journal::at(memory.data(), rank), rank);
  const std::int64_t now = source.next<std::int64_t>();
  const Signature mine = Journal::at(memory.data(), 0).record(1).read()->call;
  overwrite(source, memory);
  std::vector<Situation> all;
  tool::PsJob job;
  for (int rank = 0; rank < processes; ++rank) {
    const Journal& journal = Journal::at(memory.data(), rank);
    show(journal, mine, now, all);
    tool::PsRank its{.pid = 1, .identity = journal.identity(), .calls = journal.latest(1)};
    its.identity.host.back() = its.identity.program.back() = '\0';
    job.ranks.push_back(std::move(its));
  }
  require(!hang_report(all, mine, now).empty(), "a report is empty");
  tool::PsSurvey survey;
  survey.jobs.push_back(std::move(job));
  require(!to_text(survey, now).empty() && !to_json(survey, now).empty(), "a survey is empty");
}

const Registration registration{{"records", run}};

}  // namespace
}  // namespace tutti::fuzz
