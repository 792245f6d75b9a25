// A referee: the model of LogGOPSim (Hoefler, Schneider & Lumsdaine, HPDC 2010), written anew from its description and
// its published source, reads the GOAL that the simulator exports. Its bytes cost G from the second one on.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <queue>
#include <sstream>

#include "lib/proof/simulator/exports.hpp"
#include "simulated.hpp"

namespace tutti::simulator {
namespace {

/// Nanoseconds: latency, overhead, gap and gap per byte. All messages are eager.
struct LogGP {
  double latency = 0, overhead = 0, gap = 0, per_byte = 0;
};

/// The operations of a GOAL text, in which every dependency stands below the two lines that it joins.
struct Goal {
  enum class Kind : std::uint8_t { calc, send, recv };
  struct Operation {
    Kind kind = Kind::calc;
    int rank = 0, peer = -1, tag = 0;
    double size = 0;  // bytes or nanoseconds
    int waits = 0;
    std::vector<int> followers{};
  };
  std::vector<Operation> operations{};
  int ranks = 0;

  explicit Goal(const std::string& text) {
    std::istringstream lines{text};
    std::map<std::string, int> labels;
    for (std::string line; std::getline(lines, line);)
      read(line, labels);
  }

 private:
  void read(const std::string& line, std::map<std::string, int>& labels) {
    std::istringstream words{line};
    std::string first, second, third;
    words >> first >> second >> third;
    if (first == "num_ranks") return;
    if (first == "rank") return labels.clear(), static_cast<void>(++ranks);
    if (second == "requires") {
      ++operations[static_cast<std::size_t>(labels.at(first))].waits;
      return operations[static_cast<std::size_t>(labels.at(third))].followers.push_back(labels.at(first));
    }
    if (first.empty() || first == "}") return;
    first.pop_back();
    labels[first] = static_cast<int>(operations.size());
    Operation operation{second == "calc" ? Kind::calc : second == "send" ? Kind::send : Kind::recv, ranks - 1};
    operation.size = std::stod(third);
    std::string to, tag;
    words >> to >> operation.peer >> tag >> operation.tag;
    operations.push_back(operation);
  }
};

class Referee {
 public:
  Referee(Goal goal, const LogGP& model)
      : goal_(std::move(goal)), model_(model), hosts_(static_cast<std::size_t>(goal_.ranks)) {}

  double time() {
    for (int operation = 0; operation < static_cast<int>(goal_.operations.size()); ++operation)
      if (at(operation).waits == 0) push(operation, 0, false);
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      handle(event);
    }
    double last = 0;
    for (const Host& host : hosts_)
      last = std::max(last, host.next_work);
    return last;
  }

 private:
  struct Event {
    double time;
    long number;
    int operation;
    bool is_message;  // a send's, at the receiver
    bool operator>(const Event& other) const { return time != other.time ? time > other.time : number > other.number; }
  };
  struct Host {
    double next_work = 0, next_send = 0, next_arrival = 0;
    std::map<std::pair<int, int>, int> receives, arrived;  // by sender and tag
  };
  Goal::Operation& at(int operation) { return goal_.operations[static_cast<std::size_t>(operation)]; }
  void push(int operation, double time, bool is_message) { events_.push({time, number_++, operation, is_message}); }
  void done(int operation) {
    for (const int follower : at(operation).followers)
      if (--at(follower).waits == 0)
        push(follower, hosts_[static_cast<std::size_t>(at(follower).rank)].next_work, false);
  }
  /// Whether the host is free; if not, the event comes back when it is.
  bool is_free(const Event& event, double until) {
    if (until > event.time) push(event.operation, until, event.is_message);
    return until <= event.time;
  }
  void handle(const Event& event) {
    Goal::Operation& operation = at(event.operation);
    const int rank = event.is_message ? operation.peer : operation.rank;
    Host& host = hosts_[static_cast<std::size_t>(rank)];
    const double bytes = (operation.size - 1) * model_.per_byte;
    if (event.is_message) {
      if (!is_free(event, std::max(host.next_work, host.next_arrival))) return;
      host.next_work = event.time + model_.overhead + bytes;
      host.next_arrival = event.time + model_.gap + bytes;
      const auto found = host.receives.find({operation.rank, operation.tag});
      if (found == host.receives.end()) return static_cast<void>(host.arrived[{operation.rank, operation.tag}] = 1);
      const int receive = found->second;
      host.receives.erase(found);
      done(receive);
    } else if (operation.kind == Goal::Kind::calc) {
      if (!is_free(event, host.next_work)) return;
      host.next_work = event.time + operation.size;
      done(event.operation);
    } else if (operation.kind == Goal::Kind::send) {
      if (!is_free(event, std::max(host.next_work, host.next_send))) return;
      host.next_work = event.time + model_.overhead;
      host.next_send = event.time + model_.gap + bytes;
      push(event.operation, event.time + model_.overhead + model_.latency, true);
      done(event.operation);
    } else if (host.arrived.erase({operation.peer, operation.tag}) > 0) {
      done(event.operation);
    } else {
      host.receives[{operation.peer, operation.tag}] = event.operation;
    }
  }

  Goal goal_;
  LogGP model_;
  std::vector<Host> hosts_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  long number_ = 0;
};

/// Both models on the same schedules: a difference of no more than one byte for each message on the longest chain.
void expect_alike(Collective collective, std::string_view name, int ranks, Count count, double overhead) {
  const Algorithm& algorithm = *find_algorithm(collective, name);
  const Problem problem = problem_of(algorithm, ranks, count);
  const JoinedSchedules joined = joined_schedules(algorithm, problem);
  Rates rates = links_alone();
  rates.link = {1, 1};  // 2 microseconds from host to host, a nanosecond for each byte
  rates.eager = std::int64_t{1} << 40;
  rates.overhead = overhead * 1e-3;
  std::string text;
  write_goal(joined, rates, 4, [&](std::string_view piece) { text += piece; });
  const double theirs = Referee{Goal{text}, {2000, overhead, 0, 1}}.time();
  const double ours = static_cast<double>(run(joined, rates).time) * 1e-3;
  const double messages = algorithm.cost(problem).rounds;
  EXPECT_NEAR(ours, theirs, messages + 2) << to_string(collective) << ' ' << name << " on " << ranks;
}

// Where several messages for one rank are on their way at once, LogGOPSim takes them one after the other, and Tutti
// side by side: so these algorithms are compared on numbers of ranks for which they send one at a time.
TEST(LogGOPSim, SaysTheSameWithinAByteAMessage) {
  for (const int ranks : {16, 64})
    for (const std::string_view name : {"ring", "recursive_doubling", "rabenseifner", "swing", "circulant"})
      for (const Count count : {Count{64}, Count{262'144}})
        expect_alike(Collective::allreduce, name, ranks, count, 0);
  for (const int ranks : {16, 64})
    for (const std::string_view name : {"ring", "recursive_doubling", "circulant"})
      expect_alike(Collective::allgather, name, ranks, Count{4096}, 0);
  expect_alike(Collective::allgather, "ring", 36, Count{4096}, 0);
  expect_alike(Collective::allreduce, "ring", 36, Count{262'144}, 0);
}

TEST(LogGOPSim, SaysTheSameWithOverheads) {
  for (const int ranks : {16, 64})
    expect_alike(Collective::allreduce, "recursive_doubling", ranks, Count{4096}, 500);
}

}  // namespace
}  // namespace tutti::simulator
