#include "bindings/preload/target.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <vector>

#include "bindings/preload/errors.hpp"
#include "lib/core/communicator/communicator_state.hpp"
#include "lib/core/transport/mpi/api.hpp"
#include "lib/core/transport/mpi/check.hpp"
#include "lib/core/transport/mpi/dialect.hpp"
#include "lib/core/transport/mpi/handles.hpp"
#include "lib/watch/records/mpi_names.hpp"

namespace tutti::interpose {
namespace {

using mpi::api;
using mpi::check;

/// Whether all ranks are of this process's MPI_COMM_WORLD: alike on all of them. Others, as those of MPI_Comm_spawn,
/// may run without Tutti.
bool is_within_world(MPI_Comm comm, int size) {
  mpi::UniqueGroup theirs, world;
  std::vector<int> ranks(static_cast<std::size_t>(size)), in_world(ranks.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  check(api.Comm_group(comm, theirs.receive()), "MPI_Comm_group");
  check(api.Comm_group(MPI_COMM_WORLD, world.receive()), "MPI_Comm_group");
  check(api.Group_translate_ranks(theirs.get(), size, ranks.data(), world.get(), in_world.data()),
        "MPI_Group_translate_ranks");
  return std::ranges::find(in_world, MPI_UNDEFINED) == in_world.end();
}

}  // namespace

NameInReports::NameInReports(const Communicator& communicator, MPI_Comm comm) : id_(communicator.state().id()) {
  std::array<char, MPI_MAX_OBJECT_NAME> name{};
  int length = 0;
  if (api.Comm_get_name(comm, name.data(), &length) == MPI_SUCCESS) records::name_communicator(id_, name.data());
}
NameInReports::~NameInReports() { records::name_communicator(id_, ""); }

Target::Target(MPI_Comm comm) : is_strict_(!mpi::library_name().starts_with("Open MPI")) {
  int is_inter = 0;
  check(api.Comm_test_inter(comm, &is_inter), "MPI_Comm_test_inter");
  check(api.Comm_rank(comm, &rank_), "MPI_Comm_rank");
  check(api.Comm_size(comm, &size_), "MPI_Comm_size");
  if (is_inter == 0) return;
  why_not_ = "inter-communicator";
  is_known_ = true;
}

void Target::get_to_know(MPI_Comm comm, const Wishes& wishes, Movable most) {
  if (is_within_world(comm, size_))
    open(comm);
  else
    why_not_ = "ranks of another MPI_COMM_WORLD";
  if (communicator_) {
    const bool needs_mpi = !communicator_->state().paths().shares_memory() && size_ > 1;
    movable_ = most == Movable::without_mpi && needs_mpi ? Movable::none : most;
    const auto& state = communicator_->state();
    served_ = served_at(
        wishes,
        {.question = state.question(), .is_crowded = state.waiting().outnumbers_processors, .site = state.rules()});
  }
  is_known_.store(true, std::memory_order_release);
}

Target::~Target() {
  MPI_Errhandler handler = last_handler_;
  if (handler != MPI_ERRHANDLER_NULL) api.Errhandler_free(&handler);
}

void Target::abandon(MPI_Comm comm) noexcept {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  if (api.Comm_get_errhandler(comm, &handler) == MPI_SUCCESS) last_handler_ = handler;
}

int Target::raise(MPI_Comm comm, int code) const {
  MPI_Errhandler handler = last_handler_;
  return handler == MPI_ERRHANDLER_NULL ? interpose::raise(comm, code) : raise_by(handler, code);
}

bool Target::is_turn_of_mpi(Function function, std::int64_t bytes) {
  constexpr std::size_t sizes = 64;
  turns_.resize(function_count * sizes);
  const auto size = static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(bytes)));
  auto turn = turns_[index_of(function) * sizes + size];
  turn.flip();
  return !turn;
}

void Target::open(MPI_Comm comm) {
  try {
    communicator_.emplace(comm);
    name_.emplace(*communicator_, comm);
  } catch (const Error& error) {
    why_not_ = error.what();
  }
}

}  // namespace tutti::interpose
