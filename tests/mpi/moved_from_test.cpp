// Objects that were moved from: every public method throws StateError, or says that there is nothing. The methods are
// those that the headers have.
#include <fstream>
#include <functional>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <utility>

#include "tests/support/mpi_support.hpp"

namespace tutti::test {
namespace {

using Calls = std::map<std::string, std::function<void()>>;

/// The public methods of a class that are functions of the library, but for those that every object has.
std::set<std::string> methods_of(const std::string& name, const std::string& header) {
  std::stringstream text;
  text << std::ifstream{TUTTI_INCLUDE + ("/" + header)}.rdbuf();
  const std::string all = text.str();
  const std::size_t begin = std::min(all.find("class " + name + " {"), all.find("class [[nodiscard]] " + name + " {"));
  const std::string of_class = all.substr(begin, all.find(" private:", begin) - begin);
  const std::regex method{R"(TUTTI_API [^(;]*?(\w+)\()"};
  std::set<std::string> found;
  for (std::sregex_iterator each{of_class.begin(), of_class.end(), method}, end; each != end; ++each)
    if (const std::string its = (*each)[1]; its != name && its != "operator") found.insert(its);
  return found;
}

template <class Object>
Object moved_from(Object object) {
  const Object other = std::move(object);
  return object;
}

/// `calls`: each method, on an object that was moved from.
void expect_each_refused(const std::string& name, const std::string& header, const Calls& calls) {
  const std::set<std::string> methods = methods_of(name, header);
  EXPECT_GE(methods.size(), 2) << "read from " << header;
  for (const std::string& method : methods)
    EXPECT_TRUE(calls.contains(method)) << name << "::" << method << " is not tried here";
  for (const auto& [method, call] : calls) {
    SCOPED_TRACE(name + "::" + method);
    expect_throw<StateError>(call, {"moved from"});
  }
}

const Count one{1};

TEST(MovedFrom, Communicators) {
  Communicator comm = moved_from(Communicator{MPI_COMM_WORLD});
  comm.close();  // nothing to close
  EXPECT_FALSE(comm.is_open());
  Calls calls{{"rank", [&] { static_cast<void>(comm.rank()); }},
              {"size", [&] { static_cast<void>(comm.size()); }},
              {"node_count", [&] { static_cast<void>(comm.node_count()); }},
              {"node_of", [&] { static_cast<void>(comm.node_of(Rank{0})); }},
              {"node", [&] { static_cast<void>(comm.node()); }},
              {"leaders", [&] { static_cast<void>(comm.leaders()); }},
              {"message_counters", [&] { static_cast<void>(comm.message_counters()); }},
              {"counters", [&] { static_cast<void>(comm.counters()); }},
              {"status", [&] { static_cast<void>(comm.status()); }},
              {"state", [&] { static_cast<void>(comm.state()); }},
              {"share", [&] { static_cast<void>(comm.share()); }},
              {"close", [] { throw StateError("moved from"); }},  // tried above
              {"abort", [&] { comm.abort("as close"), throw StateError("moved from"); }},
              {"is_open", [] { throw StateError("moved from"); }}};  // tried above
  expect_each_refused("Communicator", "communicator.hpp", calls);
  int value = 1;
  for (const std::function<void()>& call : std::initializer_list<std::function<void()>>{
           [&] { barrier(comm); },
           [&] {
             allreduce(std::span{&value, 1}, Op::sum, comm);
           },
           [&] {
             broadcast(std::span{&value, 1}, Rank{0}, comm);
           },
           [&] { send(value, Rank{0}, comm); }, [&] { static_cast<void>(plan_recv(value, Rank{0}, comm)); },
           [&] { const Batch batch{comm}; }})
    expect_throw<StateError>(call, {"moved from"});
}

TEST(MovedFrom, Batches) {
  const Communicator comm{MPI_COMM_WORLD};
  Batch batch = moved_from(Batch{comm});
  int value = 1;
  expect_each_refused("Batch", "batch.hpp",
                      {{"send", [&] { batch.send(value, Rank{0}); }},
                       {"recv", [&] { batch.recv(value, Rank{0}); }},
                       {"run", [&] { batch.run(); }},
                       {"start", [&] { batch.start().wait(); }},
                       {"plan", [&] { batch.plan().start(); }}});
  batch = Batch{comm};  // it can be used again
  batch.run();
}

TEST(MovedFrom, Plans) {
  const Communicator comm{MPI_COMM_WORLD};
  Plan plan = moved_from(plan_barrier(comm));
  expect_each_refused("Plan", "request.hpp",
                      {{"start", [&] { plan.start(); }},
                       {"wait", [&] { plan.wait(); }},
                       {"test", [&] { static_cast<void>(plan.test()); }},
                       {"wait_for", [&] { static_cast<void>(plan.wait_for(std::chrono::seconds{1})); }},
                       {"algorithm", [&] { static_cast<void>(plan.algorithm()); }},
                       {"explain", [&] { static_cast<void>(plan.explain()); }}});
  expect_works(comm);
}

/// They have nothing to wait for, as one that was never given an operation.
TEST(MovedFrom, Requests) {
  const Communicator comm{MPI_COMM_WORLD};
  Request first = barrier_async(comm);
  Request second = std::move(first);
  EXPECT_TRUE(first.test());  // NOLINT(bugprone-use-after-move)
  first.wait();
  EXPECT_TRUE(first.wait_for(std::chrono::seconds{0}));
  EXPECT_TRUE(first.cancel());
  second.wait();
}

TEST(MovedFrom, Buffers) {
  const Communicator comm{MPI_COMM_WORLD};
  SharedBuffer<int> buffer = moved_from(SharedBuffer<int>{3});
  EXPECT_EQ(buffer.size(), 0);
  EXPECT_EQ(buffer.data(), nullptr);
  EXPECT_TRUE(buffer.span().empty());
  EXPECT_EQ(buffer.begin(), buffer.end());
}

/// MPI_PROC_NULL as a peer: at the ends of a line of ranks, say.
TEST(Batch, MessagesToNobodyAreNone) {
  const Communicator comm{MPI_COMM_WORLD};
  const int me = comm.rank().value();
  const Rank right{me + 1 < comm.size() ? me + 1 : MPI_PROC_NULL}, left{me > 0 ? me - 1 : MPI_PROC_NULL};
  int received = -1;
  Batch batch{comm};
  batch.send(me, right);
  batch.recv(received, left);
  batch.run();
  EXPECT_EQ(received, me - 1);
  received = -1;
  sendrecv(std::span{&me, 1}, right, std::span{&received, 1}, left, comm);
  EXPECT_EQ(received, me - 1);
  received = 7;
  recv(received, Rank{MPI_PROC_NULL}, comm);
  send(received, Rank{MPI_PROC_NULL}, comm);
  Plan plan = plan_send(received, Rank{MPI_PROC_NULL}, comm);
  plan.start();
  plan.wait();
  recv_async(received, Rank{MPI_PROC_NULL}, comm).wait();
  EXPECT_EQ(received, 7);
}

}  // namespace
}  // namespace tutti::test
