// simgrid_referee TOPOLOGY HOSTS LATENCY BANDWIDTH < GOAL - runs schedules in SimGrid as a graph of activities, and
// prints the microseconds. TOPOLOGY is that of `tutti simulate`; latency in microseconds and bandwidth in GB/s are
// those of a link. A message starts when its send and its receive can.
#include <simgrid/s4u.hpp>

#include <cstdio>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace sg4 = simgrid::s4u;

namespace {

/// A line of GOAL.
struct Operation {
  enum class Kind { calc, send, recv } kind = Kind::calc;
  int rank = 0, peer = 0, tag = 0;
  double size = 0;
  std::vector<int> after{};
};

std::vector<Operation> read_goal(std::istream& in) {
  std::vector<Operation> operations;
  std::map<std::string, int> labels;
  int rank = -1;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words{line};
    std::string first, second, third, to, tag;
    words >> first >> second >> third;
    if (first == "rank") {
      ++rank;
      labels.clear();
    } else if (second == "requires") {
      operations[static_cast<std::size_t>(labels.at(first))].after.push_back(labels.at(third));
    } else if (!first.empty() && first.back() == ':') {
      first.pop_back();
      labels[first] = static_cast<int>(operations.size());
      Operation operation;
      operation.rank = rank;
      operation.kind = second == "send"   ? Operation::Kind::send
                       : second == "recv" ? Operation::Kind::recv
                                          : Operation::Kind::calc;
      operation.size = std::stod(third);
      words >> to >> operation.peer >> tag >> operation.tag;
      operations.push_back(operation);
    }
  }
  return operations;
}

/// A message, or a calculation.
struct Vertex {
  sg4::CommPtr comm{};
  sg4::ExecPtr exec{};
  [[nodiscard]] sg4::ActivityPtr activity() const { return comm ? sg4::ActivityPtr{comm} : sg4::ActivityPtr{exec}; }
  void precede(const Vertex& next) const {
    if (comm)
      comm->add_successor(next.activity());
    else
      exec->add_successor(next.activity());
  }
};

Vertex vertex_of(const Operation& operation) {
  sg4::Host* host = sg4::Host::by_name("h" + std::to_string(operation.rank));
  if (operation.kind == Operation::Kind::calc) {
    const sg4::ExecPtr exec = sg4::Exec::init();
    exec->set_flops_amount(operation.size)->set_host(host);  // nanoseconds at a gigaflop a second
    return {{}, exec};
  }
  const sg4::CommPtr comm = sg4::Comm::sendto_init(host, sg4::Host::by_name("h" + std::to_string(operation.peer)));
  comm->set_payload_size(static_cast<std::uint64_t>(operation.size));
  return {comm, {}};
}

/// The activities, which start as soon as those before them have ended.
std::vector<Vertex> started(const std::vector<Operation>& operations) {
  std::vector<Vertex> vertices(operations.size());
  std::map<std::vector<int>, std::size_t> sends;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const Operation& its = operations[i];
    if (its.kind != Operation::Kind::recv) vertices[i] = vertex_of(its);
    if (its.kind == Operation::Kind::send) sends[{its.rank, its.peer, its.tag}] = i;
  }
  for (std::size_t i = 0; i < operations.size(); ++i)
    if (const Operation& its = operations[i]; its.kind == Operation::Kind::recv)
      vertices[i] = vertices[sends.at({its.peer, its.rank, its.tag})];
  for (std::size_t i = 0; i < operations.size(); ++i)
    for (const int before : operations[i].after)
      vertices[static_cast<std::size_t>(before)].precede(vertices[i]);
  for (std::size_t i = 0; i < operations.size(); ++i)
    if (operations[i].kind != Operation::Kind::recv) vertices[i].activity()->vetoable_start();
  return vertices;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "simgrid_referee PLATFORM < GOAL\n");
    return 2;
  }
  std::vector<std::string> options{argv[0],
                                   "--log=root.thres:error",
                                   "--cfg=network/model:CM02",
                                   "--cfg=network/TCP-gamma:1e30",
                                   "--cfg=network/weight-S:0",
                                   "--cfg=network/crosstraffic:0",
                                   "--cfg=surf/precision:1e-12"};
  std::vector<char*> pointers;
  for (std::string& option : options)
    pointers.push_back(option.data());
  int count = static_cast<int>(pointers.size());
  sg4::Engine engine{&count, pointers.data()};
  engine.load_platform(argv[1]);
  const std::vector<Vertex> vertices = started(read_goal(std::cin));
  engine.run();
  std::printf("%.6f\n", sg4::Engine::get_clock() * 1e6);
  return 0;
}
