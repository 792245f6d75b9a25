#include "lib/watch/records/journal.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <utility>

#include "lib/watch/records/process_state.hpp"

namespace tutti::records {
namespace {

constexpr std::int64_t page = 4096;
constexpr std::int64_t stride = (static_cast<std::int64_t>(sizeof(Journal)) + page - 1) / page * page;

template <std::size_t n>
void put(std::string_view text, std::array<char, n>& into) {
  const std::size_t length = std::min(text.size(), n - 1);
  std::copy_n(text.begin(), length, into.begin());
  into[length] = '\0';
}

}  // namespace

std::uint64_t own_pid_namespace() {
  struct stat facts {};
  return ::stat("/proc/self/ns/pid", &facts) == 0 ? facts.st_ino : 0;
}

Identity own_identity(int rank, int ranks) {
  Identity identity{.pid = ::getpid(), .rank = rank, .ranks = ranks, .pid_namespace = own_pid_namespace()};
  identity.started = process_of(::getpid()).started;
  ::gethostname(identity.host.data(), identity.host.size() - 1);
  std::string program;
  std::getline(std::ifstream{"/proc/self/comm"}, program);
  put(program, identity.program);
  return identity;
}

std::int64_t Journal::bytes_of(int processes) { return processes * stride; }

Journal& Journal::at(std::byte* journals, int process) {
  return *reinterpret_cast<Journal*>(journals + process * stride);
}

const Journal& Journal::at(const std::byte* journals, int process) {
  return *reinterpret_cast<const Journal*>(journals + process * stride);
}

void Journal::open(const Identity& identity) {
  identity_ = identity;
  is_open_.store(1, std::memory_order_release);
}

std::vector<Entry> Journal::latest(int most) const {
  std::vector<Entry> entries;
  for (const Record& record : records_)
    if (const auto entry = record.read()) entries.push_back(*entry);
  std::ranges::sort(entries, std::ranges::greater{}, &Entry::number);
  if (std::ssize(entries) > most) entries.resize(static_cast<std::size_t>(most));
  return entries;
}

std::vector<Entry> Journal::foremost(int most) const {
  std::vector<Entry> entries = latest(kept);
  const auto others = std::stable_partition(entries.begin(), entries.end(),
                                            [](const Entry& entry) { return entry.state == State::inside; });
  std::reverse(entries.begin(), others);
  if (std::ssize(entries) > most) entries.resize(static_cast<std::size_t>(most));
  return entries;
}

void Journal::fail(CommunicatorId communicator, FailureKind kind, std::string_view why) {
  Note& note = notes_[failures_.load(std::memory_order_relaxed) % notes];
  note.kind.store(0, std::memory_order_relaxed);
  note.communicator.store(communicator.value, std::memory_order_release);
  put(why, note.why);
  note.kind.store(static_cast<std::uint32_t>(kind), std::memory_order_release);
  failures_.fetch_add(1, std::memory_order_release);
}

std::optional<Failure> Journal::failure_of(CommunicatorId communicator) const {
  if (failures() == 0) return std::nullopt;
  for (const Note& note : notes_) {
    const std::uint32_t kind = note.kind.load(std::memory_order_acquire);
    if (kind == 0 || note.communicator.load(std::memory_order_relaxed) != communicator.value) continue;
    std::string why(note.why.data(), note.why.size());
    why.resize(std::min(why.find('\0'), why.size() - 1));
    return Failure{static_cast<FailureKind>(kind), std::move(why)};
  }
  return std::nullopt;
}

}  // namespace tutti::records
