#include "apps/soak/communicators.hpp"

#include <cstdlib>
#include <optional>

#include "lib/core/transport/mpi/check.hpp"
#include "tutti/environment.hpp"

namespace tutti::soak {
namespace {

bool has_ucx() {
  for (const Component& component : components())
    if (component.name == "UCX") return !component.description.starts_with("off");
  return false;
}

std::string random_transport(Random& random) {
  std::vector<std::string> names{"auto", "auto", "mpi"};
  if (has_ucx()) names.insert(names.end(), {"ucx", "shm+ucx"});
  return random.one_of(names);
}

/// A variable of the environment that has a value for a while, if it has none of its own.
class RandomSetting {
 public:
  RandomSetting(const char* name, const std::string& value) {
    if (value.empty() || std::getenv(name) != nullptr) return;
    setenv(name, value.c_str(), 1);
    name_ = name;
  }
  RandomSetting(const RandomSetting&) = delete;
  RandomSetting& operator=(const RandomSetting&) = delete;
  ~RandomSetting() {
    if (name_ != nullptr) unsetenv(name_);
  }

 private:
  const char* name_ = nullptr;
};

/// Colors and keys for MPI_Comm_split, the same on all ranks: the world, the world in another order, parts of it.
struct Split {
  int color, key;
};
Split split_of(Random random, int kind, int rank) {
  if (kind == 0) return {0, rank};
  const std::int64_t parts = kind == 1 ? 1 : random.between(2, 3);
  Random own{mixed({random.next(), static_cast<std::uint64_t>(rank)})};
  const auto color = static_cast<int>(own.between(0, parts - 1));
  return {color, static_cast<int>(own.between(0, 100))};
}

CommunicatorShape shape_of(const Communicator& comm, int part) {
  CommunicatorShape shape{.size = comm.size(), .nodes = {}, .part = part};
  for (int rank = 0; rank < comm.size(); ++rank)
    shape.nodes.push_back(comm.node_of(Rank{rank}));
  return shape;
}

/// Changes the environment while it lives. The C library keeps every value ever set, so there are few.
struct RandomSettings {
  explicit RandomSettings(Random& random)
      : limit{"TUTTI_MESSAGE_LIMIT", usually_default(random, std::to_string(4096 << random.between(0, 6)))},
        cache{"TUTTI_PLAN_CACHE", usually_default(random, std::to_string(random.between(1, 8)))} {}
  static std::string usually_default(Random& random, const std::string& value) {
    return random.chance(60) ? "" : value;
  }
  RandomSetting limit, cache;
};

void add_communicator(Communicators& to, const CommunicatorSource& source, std::int64_t round, int kind) {
  Random random{mixed({source.seed, static_cast<std::uint64_t>(source.thread), 0xc0, static_cast<std::uint64_t>(round),
                       static_cast<std::uint64_t>(kind)})};
  std::optional<RandomSettings> settings;
  if (has_varying_settings(round)) settings.emplace(random);
  const std::string by = source.transport == "random" ? random_transport(random) : source.transport;
  const auto [color, key] = split_of(Random{random.next()}, kind, world_rank());
  mpi::UniqueComm comm;
  mpi::check(MPI_Comm_split(source.world, color, key, comm.receive()), "MPI_Comm_split");
  Communicator ours{comm.get(), {.transport = by}};
  to.shapes.push_back(shape_of(ours, color));
  to.members.push_back({std::move(comm), std::move(ours)});
}

}  // namespace

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

Communicators make_communicators(const CommunicatorSource& source, std::int64_t round) {
  constexpr int number = 4;
  Communicators made;
  for (int kind = 0; kind < number; ++kind)
    add_communicator(made, source, round, kind);
  return made;
}

}  // namespace tutti::soak
