// Calls of lists of buffers.
#include "tutti/lists.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "lib/core/call/list_parts.hpp"
#include "lib/core/call/listed_call.hpp"
#include "lib/core/call/ready.hpp"
#include "lib/core/communicator/communicator_state.hpp"
#include "lib/device/driver/device_error.hpp"

namespace tutti::detail {
namespace {

std::vector<ListPart> checked_parts(const ListCall& list, const Communicator& comm, const Options& options) {
  try {
    const Progress::Entry entry{comm.state().progress()};
    return parts_of(list, comm, options);
  } catch (const DeviceError& error) {
    fail_at({list.function, comm.rank()}, error);
  }
}

/// The ordinary call that the whole list is, if it is one: on the only buffer that has elements, or, of a list that has
/// none, on none, as that call still looks at the other arguments.
std::optional<Call> only_call(const ListCall& list, const std::vector<ListPart>& parts) {
  if (parts.empty()) return call_of(list, nullptr, nullptr, Count{0});
  if (parts.size() > 1 || parts.front().members.size() > 1) return std::nullopt;
  const Member& only = parts.front().members.front();
  return call_of(list, only.in, only.out, Count{only.block / size_of(list.type).value()});
}

OwnedJointCall joint(const ListCall& list, std::vector<ListPart> parts, const Communicator& comm,
                     const Options& options, records::Manner manner) {
  read_named_file(list.collective, comm, options);
  std::unique_ptr<ListedCall> call = std::make_unique<ListedCall>(list, comm);
  call->take(list, std::move(parts), options, manner);
  return OwnedJointCall{call.release()};
}

OwnedJointCall started(const ListCall& list, std::vector<ListPart> parts, const Communicator& comm,
                       const Options& options) {
  OwnedJointCall call = joint(list, std::move(parts), comm, options, records::Manner::nonblocking);
  const Progress::Entry entry{comm.state().progress()};
  call->start(records::Manner::nonblocking);
  return call;
}

}  // namespace

void run(const ListCall& list, const Communicator& comm, const Options& options) {
  std::vector<ListPart> parts = checked_parts(list, comm, options);
  if (const auto only = only_call(list, parts)) return run(*only, comm, options);
  if (options.stream) {
    for (const ListPart& part : parts)
      run(*only_call(list, {part}), comm, options);
    return;
  }
  // Between nodes calls that are under way at once hide each other's latency. In shared memory they only disturb each
  // other: blocking calls one after the other take 0.5 to 0.95 of the time.
  if (parts.size() > 1 && !comm.state().paths().shares_memory())
    return started(list, std::move(parts), comm, options)->wait();
  joint(list, std::move(parts), comm, options, records::Manner::blocking)->run();
}

Request start(const ListCall& list, const Communicator& comm, const Options& options) {
  if (options.stream) refuse_stream({list.function, comm.rank()});
  std::vector<ListPart> parts = checked_parts(list, comm, options);
  if (const auto only = only_call(list, parts)) return start(*only, comm, options);
  return Request{started(list, std::move(parts), comm, options)};
}

Plan prepare(const ListCall& list, const Communicator& comm, const Options& options) {
  if (options.stream)
    refuse({list.function, comm.rank()}, "stream", "given to a plan of a list of buffers",
           "a stream in a blocking call, which a graph may capture, or in plans of single buffers");
  std::vector<ListPart> parts = checked_parts(list, comm, options);
  if (const auto only = only_call(list, parts)) return prepare(*only, comm, options);
  return Plan{joint(list, std::move(parts), comm, options, records::Manner::persistent)};
}

Count share_of(std::string_view function, std::size_t buffer, Count length, const Communicator& comm) {
  const int ranks = comm.size();
  if (length % ranks != Count{0})
    refuse({function, comm.rank()}, fmt::format("buffers[{}]", buffer),
           fmt::format("a buffer of {} elements", length.value()), fmt::format("a multiple of the {} ranks", ranks));
  return length / ranks;
}

}  // namespace tutti::detail
