// The rules of a site: rank 0's count for all ranks, and what is wrong with them is an error on all.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "tests/support/mpi_support.hpp"
#include "tutti/error.hpp"

namespace tutti::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
namespace fs = std::filesystem;

/// The file of a test, which rank 0 alone has.
class RulesOfRank0 {
 public:
  explicit RulesOfRank0(const std::string& rules, const std::string& head = "") {
    std::array<char, 256> name{};
    if (world_rank() == 0) {
      const std::string pattern = (fs::temp_directory_path() / "tutti_agreed_XXXXXX").string();
      std::copy(pattern.begin(), pattern.end(), name.begin());
      close(mkstemp(name.data()));
      std::ofstream{name.data()} << fmt::format("{{\"tutti_rules\": 1, {}\n\"rules\": [\n{}]}}", head, rules);
    }
    MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
    path_ = name.data();
  }
  RulesOfRank0(const RulesOfRank0&) = delete;
  RulesOfRank0& operator=(const RulesOfRank0&) = delete;
  ~RulesOfRank0() {
    if (world_rank() == 0) fs::remove(path_);
  }
  [[nodiscard]] const std::string& path() const { return path_; }
  /// What a rank names: the others name a file that does not exist.
  [[nodiscard]] std::string named() const { return world_rank() == 0 ? path_ : "/nowhere.json"; }

 private:
  std::string path_;
};

std::string error_of(const CommunicatorOptions& options) {
  try {
    const Communicator comm{MPI_COMM_WORLD, options};
  } catch (const ArgumentError& error) {
    return error.what();
  }
  return "";
}

std::string explained(const Communicator& comm, Count count, const Options& options = {}) {
  std::vector<float> in(static_cast<std::size_t>(count.value())), out(in.size());
  return plan_allreduce(in, out, Op::sum, comm, options).explain();
}

/// The messages that this rank sends in a call: by which algorithms are told apart.
template <class Call>
int messages_of(const Communicator& comm, const Call& call) {
  const auto sent = [&] {
    const MessageCounters all = comm.message_counters();
    return static_cast<int>(all.shm.sent + all.mpi.sent + all.network.sent);
  };
  const int before = sent();
  call();
  return sent() - before;
}

const char* const ring_up_to_1k = R"({"collective": "allreduce", "bytes": [0, 1024], "use": "ring",
  "measured": {"us": 2, "default_us": 3}},
  {"collective": "allreduce", "mode": "persistent", "bytes": [1025, 2048], "use": "swing"})";

/// The first communicator of the process: its rules are those of the job.
TEST(AgreedRules, AreThoseThatRank0OfTheJobNames) {
  {
    const RulesOfRank0 broken{"{\"collective\": \"allreduce\", \"use\": \"rung\"}"};
    setenv("TUTTI_RULES", broken.named().c_str(), 1);
    EXPECT_THAT(error_of({}), AllOf(HasSubstr(broken.path() + ":3:"), HasSubstr("'use' is 'rung'")));
  }
  const RulesOfRank0 rules{ring_up_to_1k};
  setenv("TUTTI_RULES", rules.named().c_str(), 1);
  const Communicator comm{MPI_COMM_WORLD};
  unsetenv("TUTTI_RULES");
  const std::string by =
      fmt::format("ring, by line 3 of {} (measured: 1.50 times as fast as the default)", rules.path());
  EXPECT_THAT(explained(comm, Count{256}), HasSubstr(by));
  EXPECT_THAT(explained(comm, Count{512}), HasSubstr("swing, by line 5 of"));
  EXPECT_THAT(explained(comm, Count{513}), Not(HasSubstr(rules.path())));
  EXPECT_THAT(explained(comm, Count{256}, {.algorithm = "swing"}), HasSubstr("swing, as the call says"));
  const Communicator own{MPI_COMM_WORLD, {.algorithms = "allreduce=rabenseifner"}};
  EXPECT_THAT(explained(own, Count{256}), HasSubstr("rabenseifner, the communicator's setting"));
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank() % 2, 0, &half);
  {
    const Communicator part{half};
    EXPECT_THAT(explained(part, Count{256}), HasSubstr("ring, by line 3 of"));
  }
  MPI_Comm_free(&half);
}

TEST(AgreedRules, MayBeOfOneCommunicator) {
  const RulesOfRank0 rules{R"({"collective": "allreduce", "mode": "nonblocking", "use": "ring"},
    {"collective": "allreduce", "mode": "blocking", "use": "one_shot"}, {"collective": "allreduce", "use": "two_tree"})"};
  const std::string named = rules.named();
  const Communicator comm{MPI_COMM_WORLD, {.rules = named}}, none{MPI_COMM_WORLD, {.rules = "none"}};
  EXPECT_THAT(explained(comm, Count{3}), HasSubstr("two_tree, by line 4 of"));
  EXPECT_THAT(explained(none, Count{3}), Not(HasSubstr(" by line ")));
  // The same buffers, in another manner: another rule.
  std::vector<int> in(12, world_rank() + 1), out(12);
  const int size = comm.size(), sum = size * (size + 1) / 2;
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(messages_of(comm, [&] { allreduce_async(in, out, Op::sum, comm).wait(); }), 2 * (size - 1));
    EXPECT_EQ(out, std::vector<int>(12, sum));
    out.assign(12, 0);
    EXPECT_EQ(messages_of(comm, [&] { allreduce(in, out, Op::sum, comm); }), size - 1);
    EXPECT_EQ(out, std::vector<int>(12, sum));
    EXPECT_THAT(plan_allreduce(in, out, Op::sum, comm).explain(), HasSubstr("two_tree, by line 4 of"));
  }
  const Communicator mixed{MPI_COMM_WORLD, {.forms_match = true, .rules = named}};
  EXPECT_EQ(messages_of(mixed, [&] { allreduce(in, out, Op::sum, mixed); }),
            messages_of(mixed, [&] { allreduce_async(in, out, Op::sum, mixed).wait(); }));
}

TEST(AgreedRules, ThatAreWrongAreAnErrorOnAllRanks) {
  const RulesOfRank0 elsewhere{"", R"("for": {"cpu": "no such processor"},)"};
  EXPECT_THAT(error_of({.rules = elsewhere.named()}), HasSubstr("it is for cpu 'no such processor'"));
  const RulesOfRank0 simulated{"", R"("simulated": true,)"};
  EXPECT_THAT(error_of({.rules = simulated.named()}), HasSubstr("simulated device"));
  EXPECT_THAT(error_of({.rules = "/nowhere.json"}), HasSubstr("/nowhere.json: No such file or directory"));
  const RulesOfRank0 nodes{"", R"("for": {"nodes": [1000, 2000]},)"};  // the form of the job does not count here
  EXPECT_EQ(error_of({.rules = nodes.named()}), "");
}

/// Calls of the fast path in a few short allreduces.
std::uint64_t fast_calls_by(const std::string& tuning) {
  const RulesOfRank0 rules{"", tuning};
  const std::string named = rules.named();
  const Communicator comm{MPI_COMM_WORLD, {.rules = named}};
  std::vector<int> in(512, 1), out(512);
  for (int call = 0; call < 8; ++call)
    allreduce(in, out, Op::sum, comm);
  EXPECT_EQ(out, std::vector<int>(512, comm.size()));
  return comm.counters().at("calls.fast_path");
}

TEST(AgreedRules, SetConstantsOfTransports) {
  const std::uint64_t as_built = fast_calls_by("");
  const std::uint64_t few = fast_calls_by(R"("tuning": {"shm.fast_path_bytes": 64},)");
  EXPECT_EQ(world_size() == 1 ? 0U : few, 0U);  // one rank alone has no messages
  EXPECT_GT(fast_calls_by(R"("tuning": {"shm.fast_path_bytes": 65536},)"), 0U);
  EXPECT_GT(as_built, 0U);
}

TEST(AgreedRules, AreNotForBuffersInOtherMemory) {
  const RulesOfRank0 rules{R"({"collective": "allreduce", "memory": "tutti", "use": "ring"})"};
  const std::string named = rules.named();
  const Communicator host{MPI_COMM_WORLD, {.buffers = "host", .rules = named}};
  const Communicator tutti{MPI_COMM_WORLD, {.buffers = "tutti", .rules = named}};
  EXPECT_THAT(explained(host, Count{3}), Not(HasSubstr(rules.path())));
  EXPECT_THAT(explained(tutti, Count{3}), HasSubstr("ring, by line 3 of"));
}

}  // namespace
}  // namespace tutti::test
