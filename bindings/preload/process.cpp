#include "bindings/preload/process.hpp"

#include <fmt/format.h>

#include <bitset>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "bindings/preload/datatypes.hpp"
#include "bindings/preload/muster.hpp"
#include "bindings/preload/operations.hpp"
#include "bindings/preload/report.hpp"
#include "bindings/preload/requests.hpp"
#include "lib/core/communicator/communicator_state.hpp"
#include "lib/core/communicator/runtime.hpp"
#include "lib/core/communicator/variables.hpp"
#include "lib/core/transport/mpi/api.hpp"
#include "lib/core/transport/mpi/check.hpp"
#include "lib/watch/log.hpp"
#include "tutti/error.hpp"

namespace tutti::interpose {
namespace {

using mpi::api;
using mpi::check;

struct State {
  std::atomic<bool> serves = false;
  /// Grows whenever a communicator is freed, whose handle may be used again.
  std::atomic<std::uint64_t> freed = 0;
  int attribute = MPI_KEYVAL_INVALID;  ///< A communicator's Target.
  Wishes wishes{};
  bool has_fixed_bits = false;
  std::bitset<function_count> wanted{};  ///< Functions of which any call may be served.
  Movable movable = Movable::none;
  std::mutex mutex;                                       ///< Protects `open` and `abandoned`.
  std::map<const Target*, std::shared_ptr<Target>> open;  ///< All that are attributes.
  std::vector<std::shared_ptr<Target>> abandoned;         ///< Their communicators are freed.
};
/// Never destroyed: MPI may delete attributes after main.
State& state() {
  static auto* const state = new State;
  return *state;
}

/// MPI calls this with locks of its own: the target is closed later, by a call on another communicator.
int forget(MPI_Comm comm, int /*key*/, void* target, void* /*extra*/) {
  State& own = state();
  const std::lock_guard lock{own.mutex};
  const auto found = own.open.find(static_cast<Target*>(target));
  if (found == own.open.end()) return MPI_SUCCESS;  // closed by end()
  found->second->abandon(comm);
  own.abandoned.push_back(std::move(found->second));
  own.open.erase(found);
  ++own.freed;
  return MPI_SUCCESS;
}

void close_abandoned() {
  State& own = state();
  std::vector<std::shared_ptr<Target>> abandoned;  // closed without the lock
  const std::lock_guard lock{own.mutex};
  abandoned.swap(own.abandoned);
}

/// Local. nullptr: it can have no attribute.
Target* make_target(MPI_Comm comm) {
  State& own = state();
  close_abandoned();
  auto target = std::make_shared<Target>(comm);
  if (api.Comm_set_attr(comm, own.attribute, target.get()) != MPI_SUCCESS) return nullptr;
  const std::lock_guard lock{own.mutex};
  return own.open.emplace(target.get(), target).first->second.get();
}

void tell(std::string_view why_not) { log::report("", fmt::format("no call is served: {}", why_not)); }

std::string why_not_here() {
  try {
    return detail::Runtime::get().objection();
  } catch (const std::exception& error) {
    return error.what();
  }
}

/// Whether Tutti can run on all ranks: one rank's environment may keep it from that, which says so.
bool all_can_run() {
  const std::string why_not = why_not_here();
  if (!why_not.empty()) tell(why_not);
  int can_run = why_not.empty() ? 1 : 0;
  check(api.Allreduce(MPI_IN_PLACE, &can_run, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD), "MPI_Allreduce");
  return can_run != 0;
}

/// The least of all ranks.
Movable agreed_movable() {
  int level = MPI_THREAD_SINGLE;
  check(api.Query_thread(&level), "MPI_Query_thread");
  Movable movable = level == MPI_THREAD_MULTIPLE ? Movable::all : Movable::without_mpi;
  if (!completes_requests()) movable = Movable::none;
  check(api.Allreduce(MPI_IN_PLACE, &movable, 1, MPI_UINT8_T, MPI_MIN, MPI_COMM_WORLD), "MPI_Allreduce");
  return movable;
}

/// What rank 0's environment says; nothing, and a line, if that is not allowed.
std::optional<Wishes> own_wishes() {
  const char* const given = std::getenv("TUTTI_INTERPOSE");
  try {
    static_cast<void>(number_in_environment("TUTTI_MEASURE"));
    return read_wishes(given == nullptr ? "auto" : given);
  } catch (const Error& error) {
    tell(error.what());
    return std::nullopt;
  }
}

/// The wishes of rank 0, on all ranks. Nothing: they are wrong, as rank 0 has said.
std::optional<Wishes> agreed_wishes() {
  const int rank = mpi::rank_in(MPI_COMM_WORLD);
  std::optional<Wishes> wishes;
  static_assert(std::is_trivially_copyable_v<std::optional<Wishes>>);
  if (rank == 0) wishes = own_wishes();
  check(api.Bcast(&wishes, sizeof wishes, MPI_BYTE, 0, MPI_COMM_WORLD), "MPI_Bcast");
  return wishes;
}

/// Until now calls have come from the program's own callbacks in MPI_Finalize, too.
void end() noexcept {
  State& own = state();
  if (!own.serves.exchange(false)) return;
  try {
    print_report();
  } catch (const std::exception& error) {
    log::report("", fmt::format("no report: {}", error.what()));
  }
  std::map<const Target*, std::shared_ptr<Target>> open;
  {
    const std::lock_guard lock{own.mutex};
    open.swap(own.open);
  }
  open.clear();
  close_abandoned();
  end_datatypes();
}

}  // namespace

void begin() noexcept {
  State& own = state();
  try {
    if (!have_all_the_library()) return;
    const std::optional<Wishes> wishes = agreed_wishes();
    if (!wishes || wishes->use == Wishes::Use::none) return;
    own.wishes = *wishes;
    for (std::size_t function = 0; function < function_count; ++function)
      own.wanted[function] = wants(own.wishes, static_cast<Function>(function));
    detail::Runtime::trust_threads();
    own.movable = agreed_movable();
    if (!all_can_run()) return;
    begin_datatypes();
    check(api.Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &own.attribute, nullptr), "MPI_Comm_create_keyval");
    Target& world = *make_target(MPI_COMM_WORLD);
    world.get_to_know(MPI_COMM_WORLD, own.wishes, own.movable);
    own.has_fixed_bits = world.is_served() && world.communicator().state().settings().bits == Bits::fixed;
    if (own.has_fixed_bits) keep_sides_of_operands();
    begin_report(own.has_fixed_bits);
    detail::Runtime::get().call_at_finalize(end);
    int can_serve = world.is_served() ? 1 : 0;
    check(api.Allreduce(MPI_IN_PLACE, &can_serve, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD), "MPI_Allreduce");
    own.serves = can_serve != 0;
    if (!world.is_served()) tell(world.why_not());
  } catch (const std::exception& error) {
    tell(error.what());
  }
}

Target* find_target(MPI_Comm comm) {
  thread_local struct {
    MPI_Comm comm = MPI_COMM_NULL;
    std::uint64_t freed = 0;
    Target* target = nullptr;
  } last;
  State& own = state();
  if (!own.serves.load(std::memory_order_relaxed) || comm == MPI_COMM_NULL) return nullptr;
  const std::uint64_t freed = own.freed.load(std::memory_order_acquire);
  if (last.comm == comm && last.freed == freed && last.target != nullptr) return last.target;
  void* kept = nullptr;
  int is_kept = 0;
  if (api.Comm_get_attr(comm, own.attribute, static_cast<void*>(&kept), &is_kept) != MPI_SUCCESS) return nullptr;
  last = {comm, freed, is_kept != 0 ? static_cast<Target*>(kept) : make_target(comm)};
  return last.target;
}

bool may_make_known(Function function) {
  const State& own = state();
  const bool is_fixed = own.has_fixed_bits && is_reduction(function);
  const bool waits = waits_for_all(function) || own.wishes.use != Wishes::Use::automatic || is_fixed;
  return waits && own.wanted[index_of(function)];
}

/// To get to know a communicator takes as long as many small calls, and many communicators see but a few.
void make_known(Target& target, MPI_Comm comm) {
  constexpr int calls_before_known = 16;
  const State& own = state();
  const bool may_be_early = own.wishes.use == Wishes::Use::automatic && !own.has_fixed_bits;
  const bool is_early = may_be_early && target.count_call() < calls_before_known;
  if (!is_early) target.get_to_know(comm, own.wishes, own.movable);
}

std::shared_ptr<Target> keep_target(const Target& target) {
  State& own = state();
  const std::lock_guard lock{own.mutex};
  return own.open.at(&target);
}

/// A thread that is inside may never leave: its records are lost then.
void keep_records() noexcept {
  if (!is_serving()) return;
  detail::Runtime& runtime = detail::Runtime::get();
  runtime.progress().if_nobody_is_inside([&runtime] { detail::flush_records(runtime); });
}

bool is_serving() { return state().serves.load(std::memory_order_relaxed); }

}  // namespace tutti::interpose
