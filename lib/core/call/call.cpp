#include "tutti/call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "lib/core/call/accumulate.hpp"
#include "lib/core/call/arguments.hpp"
#include "lib/core/call/chosen.hpp"
#include "lib/core/call/layout.hpp"
#include "lib/core/call/reach_peers.hpp"
#include "lib/core/call/ready.hpp"
#include "lib/core/call/segment_limit.hpp"
#include "lib/core/communicator/communicator_state.hpp"
#include "lib/core/communicator/introduction.hpp"
#include "lib/core/communicator/runtime.hpp"
#include "lib/core/communicator/schedule_files.hpp"
#include "lib/core/run/explain.hpp"
#include "lib/core/run/operation.hpp"
#include "lib/core/run/prove_plan.hpp"
#include "lib/device/call/streamed_call.hpp"
#include "lib/device/driver/device_error.hpp"
#include "lib/device/driver/pending_waits.hpp"
#include "lib/watch/log.hpp"
#include "tutti/algorithm.hpp"

namespace tutti::detail {
namespace {

/// The parameter as schedules get it.
int parameter_of(const Choice& choice, Type type) {
  const int given = choice.parameter, element = static_cast<int>(size_of(type).value());
  if (choice.algorithm->parameter.unit != Parameter::Unit::bytes || given == 0) return given;
  return std::max(1, given / element);
}

/// Whether the lists of a call are those that a plan was made for. The arrays of the earlier call may have changed.
bool has_lists_of(const Call& call, const Problem& problem) {
  const bool at_root = problem.rank == problem.root;
  switch (call.collective) {
    case Collective::gather:
      return !at_root || call.out_blocks == problem.out;
    case Collective::scatter:
      return !at_root || call.in_blocks == problem.in;
    case Collective::alltoall:
      return call.out_blocks == problem.out && (is_in_place(call.in) || call.in_blocks == problem.in);
    default:
      return call.in_blocks == problem.in && call.out_blocks == problem.out;
  }
}

/// Whether a call is the same as an earlier one, buffers included, so that the checks of that one hold.
bool repeats(const Call& call, const Options& options, records::Manner manner, const RecentCall& recent) {
  const Call& then = recent.call;
  return call.in == then.in && call.out == then.out && call.count == then.count && call.collective == then.collective &&
         call.type == then.type && call.root == then.root && call.op == then.op && call.form == then.form &&
         manner == recent.manner && options.algorithm == recent.algorithm && options.bits == recent.bits &&
         options.accumulate == recent.accumulate && options.rounding == recent.rounding &&
         call.is_uneven == then.is_uneven && (!call.is_uneven || has_lists_of(call, recent.plan->plan().key().problem));
}

/// The earlier call bound, as it is the same.
Operation& repeated(const RecentCall& recent, CommunicatorState& state) {
  state.require_working();
  Operation& operation = recent.plan->acquire(state, recent.in, recent.out);
  operation.why = recent.why;
  return operation;
}

/// A call whose arguments have been checked.
struct Checked {
  CachedPlan* plan;
  const void* in;  ///< Not `Call::in` where that is MPI_IN_PLACE.
  void* out;
  std::string_view why;
};

/// Checks the arguments, and finds or makes the plan; `use` does something with it for which there may be no memory.
template <class Use>
auto checked(Call call, CommunicatorState& state, const Options& options, records::Manner manner, CallMemory& memory,
             const Use& use) {
  const CallSite site{call.function, state.rank()};
  state.require_working();
  if (options.bits && options.bits != Bits::same && options.bits != Bits::fixed)
    refuse(site, "bits", *options.bits == Bits::differ ? "Bits::differ" : "no value of Bits",
           "Bits::same, Bits::fixed");
  call.op = op_of(site, call, options);
  PlanKey key{.type = call.type, .op = call.op, .form = call.form};
  key.problem = problem_of(site, call, state.members().size(), memory);
  key.places = {memory.in.device, memory.out.device};
  const Selection selection = chosen(call, key.problem, state, options, manner);
  key.choice = selection.choice;
  key.problem.parameter = parameter_of(selection.choice, call.type);
  const Levels levels = selection.choice.algorithm->levels;
  if (levels != Levels::ranks) key.problem.nodes = state.members().nodes();
  if (levels == Levels::sockets) key.problem.sockets = state.members().sockets();
  // Checked even if this rank has such a plan: others may have none.
  if (selection.is_users) require_few_segments(site, key.choice, key.problem, call.type, selection.why);
  try {
    bool is_new = false;
    CachedPlan& plan = state.plans().plan(key, [&] {
      is_new = true;
      if (Faults* const faults = state.runtime().faults()) faults->before_plan();
      require_disjoint_blocks(site, key.problem);
      if (has_to_be_proved(key, state)) prove_plan(key, state);
    });
    if (is_new && log::is_on(log::Level::debug))
      log::write(log::Level::debug, name_in_log(state), explain(state, plan, selection.why));
    return use(Checked{&plan, call.in, call.out, selection.why});
  } catch (const NoStagingMemory&) {
    throw;
  } catch (const std::bad_alloc&) {
    refuse(site, "count", fmt::format("{}, for which there is no memory for scratch", call.count.value()),
           "what leaves memory for scratch (algorithms/README.md), or an algorithm that needs less");
  }
}

/// A number that tells a call from others, but for buffers and count. Lists and user's operations seldom differ alone.
std::uint64_t kind_of(const Call& call) {
  const auto root = static_cast<std::uint64_t>(call.root.value()), type = static_cast<std::uint64_t>(call.type);
  const auto op = static_cast<std::uint64_t>(call.op.kind()), collective = static_cast<std::uint64_t>(call.collective);
  return root << 24U | type << 16U | op << 8U | collective;
}

/// The operation of a call; found at once for a call that repeats an earlier one, as programs of short calls do.
Operation& ready_at_once(const Call& call, CommunicatorState& state, const Options& options, records::Manner manner) {
  const auto [recent, is_it] = state.plans().recent_calls().find(
      {address(call.in), address(call.out), static_cast<std::uint64_t>(call.count.value()), kind_of(call)},
      [&](const RecentCall& earlier) { return repeats(call, options, manner, earlier); });
  try {
    if (is_it && recent.allocations.are_those_of(recent.in, recent.out)) return repeated(recent, state);
    CallMemory memory;
    const auto bind = [&](const Checked& found) -> Operation* {
      Operation& its = found.plan->operations.acquire(state, found.in, found.out);
      its.why = found.why;
      return &its;
    };
    Operation& operation = *checked(call, state, options, manner, memory, bind);
    recent = {.call = call,
              .algorithm = std::string{options.algorithm},
              .bits = options.bits,
              .accumulate = options.accumulate,
              .rounding = options.rounding,
              .manner = manner,
              .plan = &operation.pool(),
              .in = operation.input(),
              .out = operation.output(),
              .why = operation.why,
              .allocations = KnownAllocations::of(operation.input(), memory.in.allocation, operation.output(),
                                                  memory.out.allocation)};
    return operation;
  } catch (const DeviceError& error) {
    fail_at({call.function, state.rank()}, error);
  }
}

}  // namespace

Operation& ready(const Call& call, CommunicatorState& state, const Options& options, records::Manner manner) {
  for (int looks = 0;; ++looks) {
    try {
      Operation& operation = ready_at_once(call, state, options, manner);
      operation.name_call(call.mpi, call.has_gaps);
      return operation;
    } catch (const NoStagingMemory& missing) {
      if (!cuda::StreamWaits::any_pending())
        refuse_for_memory({call.function, state.rank()}, "count", call.count.value(), missing.what());
    }
    state.progress().look_at_all(looks);
  }
}

namespace {

/// The number of the device that holds the buffers, whose stream it has to be.
int device_of_call(const CallSite& site, const CallMemory& memory, const Problem& problem, CUstream_st* stream) {
  const auto [input, output] = shape_of(problem);
  const auto require = [&](std::string_view argument, Count used, int device) {
    if (used > Count{0} && device < 0)
      refuse(site, argument, "memory of the host, in a call with a stream", "memory of the device of the stream");
  };
  require("in", input, memory.in.device);
  require("out", output, memory.out.device);
  const int its = stream::device_of(stream);
  for (const int device : {memory.in.device, memory.out.device})
    if (device >= 0 && device != its)
      refuse(site, "stream", "a stream of another device, or of another context, than the buffers",
             "a stream of the context that holds the buffers");
  return its;
}

/// A call in the order of a stream.
StreamedCall streamed(const Call& call, CommunicatorState& state, const Options& options) {
  const CallSite site{call.function, state.rank()};
  CUstream_st* const stream = *options.stream;
  CallMemory memory;
  try {
    return checked(call, state, options, records::Manner::in_stream, memory, [&](const Checked& found) {
      const PlanKey& key = found.plan->key();
      if (key.op.kind() == Op::Kind::user && reduces(call.collective) && key.op.kernel().handle == nullptr)
        refuse(site, "op", "a user's operation without a kernel, in a call with a stream",
               "one with a DeviceKernel, or a call without a stream");
      const int device = device_of_call(site, memory, key.problem, stream);
      return StreamedCall{state, *found.plan, {found.in, found.out, device}, stream, found.why};
    });
  } catch (const DeviceError& error) {
    fail_at(site, error);
  }
}

OwnedStreamedCall owned_plan(const Call& call, const Communicator& comm, const Options& options) {
  const Progress::Entry entry{comm.state().progress()};
  std::unique_ptr<StreamedCall> plan{new StreamedCall(streamed(call, comm.state(), options))};  // which does not move
  plan->remember_memory();
  plan->keep_alive = comm.share();
  return OwnedStreamedCall{plan.release()};
}

}  // namespace

void read_named_file(Collective collective, const Communicator& comm, const Options& options) {
  if (options.algorithm.starts_with(file_prefix)) require_schedule_file(comm, collective, options.algorithm);
}

void refuse_stream(const CallSite& site) {
  refuse(site, "stream", "given to a nonblocking call",
         "a stream in a blocking call, which then returns at once, or in a plan");
}

void run(const Call& call, const Communicator& comm, const Options& options) {
  read_named_file(call.collective, comm, options);
  CommunicatorState& state = comm.state();
  if (options.stream) {
    const Progress::Entry entry{state.progress()};
    return streamed(call, state, options).start();
  }
  Progress::Entry entry{state.progress()};
  run_to_end(ready(call, state, options, records::Manner::blocking), entry);
}

Request start(const Call& call, const Communicator& comm, const Options& options) {
  read_named_file(call.collective, comm, options);
  CommunicatorState& state = comm.state();
  const Progress::Entry entry{state.progress()};
  if (options.stream) refuse_stream({call.function, state.rank()});
  Operation& operation = ready(call, state, options, records::Manner::nonblocking);
  operation.start(records::Manner::nonblocking);
  return Request{owned(operation, comm.share())};
}

Plan prepare(const Call& call, const Communicator& comm, const Options& options) {
  read_named_file(call.collective, comm, options);
  CommunicatorState& state = comm.state();
  if (options.stream) {
    OwnedStreamedCall plan = owned_plan(call, comm, options);
    reach_peers(*plan, comm);
    return Plan{std::move(plan)};
  }
  const Progress::Entry entry{state.progress()};
  return Plan{owned(ready(call, state, options, records::Manner::persistent), comm.share())};
}

}  // namespace tutti::detail
