#include "apps/tutti/ps_survey.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <system_error>

#include "lib/core/memory/unique_handle.hpp"

namespace tutti::tool {
namespace {

namespace fs = std::filesystem;

struct DescriptorTraits {
  using Handle = int;
  static Handle null() { return -1; }
  static void destroy(Handle& descriptor) noexcept { ::close(descriptor); }
};
using Descriptor = UniqueHandle<DescriptorTraits>;

/// A part of a file, mapped for reading; nothing if that fails.
class View {
 public:
  View(int descriptor, std::int64_t offset, std::int64_t bytes)
      : bytes_(static_cast<std::size_t>(bytes)),
        data_(::mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, descriptor, offset)) {}
  View(const View&) = delete;
  View& operator=(const View&) = delete;
  ~View() {
    if (is_there()) ::munmap(data_, bytes_);
  }
  [[nodiscard]] bool is_there() const { return data_ != MAP_FAILED; }
  [[nodiscard]] const std::byte* data() const { return static_cast<const std::byte*>(data_); }

 private:
  std::size_t bytes_;
  void* data_;
};

/// A process that has the shared memory of a job open.
struct Holder {
  pid_t pid = 0, own_pid = 0;  ///< Here, and as it sees itself.
  int descriptor = -1;
};
using Holders = std::map<ino_t, std::vector<Holder>>;

std::optional<pid_t> pid_of(const fs::path& folder) {
  const std::string name = folder.filename();
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
  if (error != std::errc{} || end != name.data() + name.size()) return std::nullopt;
  return pid;
}

/// The number of a process in its own namespace: the last one of the line NSpid.
pid_t own_pid_of(pid_t pid) {
  std::ifstream status{fmt::format("/proc/{}/status", pid)};
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("NSpid:")) continue;
    std::istringstream numbers{line.substr(line.find(':') + 1)};
    pid_t last = pid;
    while (numbers >> last) {
    }
    return last;
  }
  return pid;
}

/// Adds the shared memories that a process has open. False: the system does not let us look.
bool add_holder(pid_t pid, Holders& holders) {
  std::error_code error;
  for (fs::directory_iterator entry{fmt::format("/proc/{}/fd", pid), error}, end; !error && entry != end;
       entry.increment(error)) {
    std::error_code gone;
    if (!fs::read_symlink(entry->path(), gone).string().starts_with("/memfd:tutti ") || gone) continue;
    struct stat facts {};
    if (::stat(entry->path().c_str(), &facts) == 0)
      holders[facts.st_ino].push_back({pid, own_pid_of(pid), std::stoi(entry->path().filename())});
  }
  return error != std::errc::permission_denied;
}

Holders find_holders(int& unreadable) {
  Holders holders;
  std::error_code error;
  for (fs::directory_iterator entry{"/proc", error}, end; !error && entry != end; entry.increment(error)) {
    const std::optional<pid_t> pid = pid_of(entry->path());
    struct stat facts {};
    if (!pid || ::stat(entry->path().c_str(), &facts) != 0) continue;
    if (facts.st_uid != ::geteuid() && ::geteuid() != 0) continue;
    if (!add_holder(*pid, holders)) ++unreadable;
  }
  return holders;
}

/// Where the journals are; nothing if the file does not say, or says that they are beyond its end.
struct JournalTable {
  std::int64_t offset = 0;
  int processes = 0;
};
std::optional<JournalTable> table_of_journals(int descriptor, PsSurvey& survey) {
  constexpr std::int64_t most_processes = 1 << 20, page = 4096;
  struct stat facts {};
  // Any process may have a file of that name. One that can shrink, or is too small, is none of Tutti's: to read beyond
  // its end would be the end of this process.
  const int seals = ::fcntl(descriptor, F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || ::fstat(descriptor, &facts) != 0 || facts.st_size < page)
    return std::nullopt;
  const View first{descriptor, 0, page};
  if (!first.is_there()) return std::nullopt;
  const auto& directory = *reinterpret_cast<const records::Directory*>(first.data() + records::Directory::offset);
  const std::uint64_t mark = directory.mark.load(std::memory_order_acquire);
  if (mark == 0) return std::nullopt;  // there is no memory for records, or it is being made
  const JournalTable table{directory.journals_at, directory.processes};
  const bool is_ours =
      mark == records::Directory::right_mark && directory.bytes_of_each == records::Journal::bytes_of(1);
  if (!is_ours) ++survey.other_versions;
  const bool fits = table.processes > 0 && table.processes <= most_processes && table.offset > 0 &&
                    table.offset % page == 0 &&
                    table.offset <= facts.st_size - records::Journal::bytes_of(table.processes);
  return is_ours && fits ? std::optional{table} : std::nullopt;
}

/// The process that wrote a journal, among those that have the memory open.
pid_t pid_here(const records::Identity& identity, const std::vector<Holder>& holders) {
  const auto is_it = [&](const Holder& holder) {
    return holder.own_pid == identity.pid && records::process_of(holder.pid).started == identity.started;
  };
  const auto found = std::ranges::find_if(holders, is_it);
  return found == holders.end() ? 0 : found->pid;
}

PsRank rank_of(const records::Journal& journal, const std::vector<Holder>& holders, int calls) {
  PsRank rank{.identity = journal.identity()};
  rank.identity.host.back() = rank.identity.program.back() = '\0';
  rank.pid = pid_here(rank.identity, holders);
  rank.process = rank.pid == 0 ? records::Process{.life = records::Life::dead}
                               : records::process_of(rank.pid, rank.identity.started);
  rank.calls = journal.foremost(calls);
  return rank;
}

std::optional<PsJob> job_of(const std::vector<Holder>& holders, int calls, PsSurvey& survey) {
  const Holder& first = holders.front();
  const Descriptor file{
      ::open(fmt::format("/proc/{}/fd/{}", first.pid, first.descriptor).c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.get() < 0) {
    ++survey.unreadable;
    return std::nullopt;
  }
  const std::optional<JournalTable> table = table_of_journals(file.get(), survey);
  if (!table) return std::nullopt;
  const View journals{file.get(), table->offset, records::Journal::bytes_of(table->processes)};
  if (!journals.is_there()) return std::nullopt;
  PsJob job;
  for (int process = 0; process < table->processes; ++process)
    if (const auto& journal = records::Journal::at(journals.data(), process); journal.is_open())
      job.ranks.push_back(rank_of(journal, holders, calls));
  std::ranges::sort(job.ranks, {}, [](const PsRank& rank) { return rank.identity.rank; });
  return job;
}

}  // namespace

bool PsJob::has(pid_t pid) const {
  return std::ranges::any_of(ranks, [&](const PsRank& rank) { return rank.pid == pid; });
}

/// A process with communicators on several carriers has a journal in the memory of each, all with the same records: the
/// largest job has it.
PsSurvey survey_processes(int calls) {
  PsSurvey survey;
  for (const auto& [inode, holders] : find_holders(survey.unreadable))
    if (auto job = job_of(holders, calls, survey)) survey.jobs.push_back(std::move(*job));
  std::ranges::sort(survey.jobs, std::ranges::greater{}, [](const PsJob& job) { return job.ranks.size(); });
  std::set<pid_t> seen;
  for (PsJob& job : survey.jobs)
    std::erase_if(job.ranks, [&](const PsRank& rank) { return rank.pid != 0 && !seen.insert(rank.pid).second; });
  std::erase_if(survey.jobs, [](const PsJob& job) {
    return std::ranges::all_of(job.ranks, [](const PsRank& rank) { return rank.pid == 0; });
  });
  return survey;
}

}  // namespace tutti::tool
