#pragma once
// Contexts: each is a communicator, a collective, a kind of memory and a mode that are measured together.

#include <mpi.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/bench/collective.hpp"
#include "apps/bench/memory.hpp"
#include "apps/tune/settings.hpp"
#include "lib/core/selection/rules.hpp"
#include "tutti/communicator.hpp"

namespace tutti::tune {

/// The kind of memory of that name, which is one.
[[nodiscard]] const bench::BenchMemory& memory_named(std::string_view name);

/// Some of the ranks of the job, with rank 0: they measure together.
class Team {
 public:
  /// Collective over MPI_COMM_WORLD. `is_member`: whether this rank is one of them. `rules`: as in CommunicatorOptions;
  /// the text must live as long as the team.
  Team(std::string name, bool is_member, const bench::BenchMemory& memory, std::string_view rules);
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  ~Team();

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] bool is_member() const { return mpi_ != MPI_COMM_NULL; }
  [[nodiscard]] MPI_Comm mpi() const { return mpi_; }
  /// Its calls take the built-in rules, with the constants that were measured before.
  [[nodiscard]] const Communicator& comm() const { return *comm_; }
  /// Another communicator of the same ranks, which makes its plans anew. Collective over the team.
  [[nodiscard]] Communicator another() const { return Communicator{mpi_, options_}; }

 private:
  std::string name_;
  CommunicatorOptions options_;
  MPI_Comm mpi_ = MPI_COMM_NULL;
  std::optional<Communicator> comm_;
};

struct Context {
  std::string communicator;  ///< "world", "node", "leaders".
  const bench::BenchCollective* collective;
  const bench::BenchMemory* memory;
  bench::Mode mode;
  [[nodiscard]] std::string name() const;  ///< "world/allreduce/host/blocking"
};

/// The communicators that differ on this job, of those that the settings name: world, node, leaders.
[[nodiscard]] std::vector<std::string> communicators_of(const Settings& settings, const Communicator& world);
/// Whether this rank is a member.
[[nodiscard]] bool is_member_of(std::string_view communicator, const Communicator& world);
/// The contexts, those that matter most first.
[[nodiscard]] std::vector<Context> contexts_of(const Settings& settings, const Communicator& world);

/// The facts that rules are about, as far as they are the same for all calls of the context.
[[nodiscard]] Question question_of(const Context& context, const Communicator& comm);
/// Whether ranks know only their own blocks, so that one algorithm serves all sizes.
[[nodiscard]] bool knows_no_bytes(const Question& question);

}  // namespace tutti::tune
