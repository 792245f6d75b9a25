#include "apps/soak/invocation.hpp"

#include <algorithm>
#include <utility>

#include "apps/bench/calls.hpp"
#include "tutti/tutti.hpp"

namespace tutti::soak {
namespace {

void append(std::vector<Count>& counts, const std::vector<std::int64_t>& numbers) {
  for (const std::int64_t number : numbers)
    counts.emplace_back(number);
}

/// A choice that this rank makes for this call.
bool chance(const Call& call, std::uint64_t what, Rank rank) {
  return Random{mixed({call.key, what, static_cast<std::uint64_t>(rank.value())})}.chance(50);
}

/// Blocks as MPI takes them, side by side, in bytes where elements are only moved.
struct MpiBlocks {
  std::vector<int> counts, offsets;
  int total = 0;
  MpiBlocks(const Side& side, std::int64_t unit) {
    for (const std::int64_t count : side.counts) {
      offsets.push_back(total);
      counts.push_back(static_cast<int>(count * unit));
      total += counts.back();
    }
  }
};

/// A call that the MPI makes, as bytes in and bytes out.
struct MpiCall {
  const Call& call;
  MPI_Comm comm = MPI_COMM_NULL;
  const std::vector<std::byte>& in;
  std::vector<std::byte>& out;
  MpiBlocks sent, received;  ///< In units of `type`.
  MPI_Datatype type = MPI_DATATYPE_NULL;
};

void move_elements(MpiCall& on) {
  auto& [call, comm, in, out, sent, received, type] = on;
  switch (call.collective) {
    case Collective::barrier:
      MPI_Barrier(comm);
      break;
    case Collective::broadcast:
      if (!in.empty()) out = in;
      MPI_Bcast(out.data(), received.total, type, call.root, comm);
      break;
    case Collective::allgather:
      MPI_Allgatherv(in.data(), sent.total, type, out.data(), received.counts.data(), received.offsets.data(), type,
                     comm);
      break;
    case Collective::gather:
      MPI_Gatherv(in.data(), sent.total, type, out.data(), received.counts.data(), received.offsets.data(), type,
                  call.root, comm);
      break;
    case Collective::scatter:
      MPI_Scatterv(in.data(), sent.counts.data(), sent.offsets.data(), type, out.data(), received.total, type,
                   call.root, comm);
      break;
    default:
      MPI_Alltoallv(in.data(), sent.counts.data(), sent.offsets.data(), type, out.data(), received.counts.data(),
                    received.offsets.data(), type, comm);
  }
}

void reduce_elements(MpiCall& on) {
  auto& [call, comm, in, out, sent, received, type] = on;
  MPI_Op op = *bench::mpi_op(call.op.kind());
  switch (call.collective) {
    case Collective::reduce:
      MPI_Reduce(in.data(), out.data(), sent.total, type, op, call.root, comm);
      break;
    case Collective::allreduce:
      MPI_Allreduce(in.data(), out.data(), sent.total, type, op, comm);
      break;
    case Collective::reduce_scatter:
      MPI_Reduce_scatter(in.data(), out.data(), sent.counts.data(), type, op, comm);
      break;
    case Collective::scan:
      MPI_Scan(in.data(), out.data(), sent.total, type, op, comm);
      break;
    default:
      MPI_Exscan(in.data(), out.data(), sent.total, type, op, comm);
  }
}

}  // namespace

Invocation::Invocation(const Call& call, const Layout& layout, const CallMemory& memory, const Communicator& comm)
    : call_(call), layout_(layout), memory_(memory), comm_(comm) {
  if (call.kind == Kind::collective)
    list_blocks();
  else
    list_messages();
  if (call.kind != Kind::batch) return;
  Batch batch{comm};
  for (const Transfer& transfer : transfers_)
    if (transfer.is_sent)
      batch.send(transfer.data, transfer.count, call.type, transfer.peer);
    else
      batch.recv(transfer.data, transfer.count, call.type, transfer.peer);
  batches_.push_back(std::move(batch));
}

void Invocation::list_blocks() {
  append(in_counts_, layout_.in.counts);
  append(out_counts_, layout_.out.counts);
  if (layout_.in.lists_offsets) append(in_offsets_, layout_.in.offsets);
  if (layout_.out.lists_offsets) append(out_offsets_, layout_.out.offsets);
}

detail::Call Invocation::collective_call() const {
  detail::Call call{.function = to_string(call_.collective), .collective = call_.collective};
  call.in = memory_.in();
  call.out = memory_.out();
  call.count = Count{call_.count};
  call.type = call_.type;
  call.op = call_.op;
  call.root = Rank{call_.root};
  call.is_uneven = call_.is_uneven;
  place(call);
  if (!call_.is_uneven) return call;
  const auto own = static_cast<std::size_t>(comm_.rank().value());
  if (call_.collective == Collective::gather || call_.collective == Collective::scatter)
    call.count = Count{call_.counts[own]};
  const bool lists_input = call_.collective != Collective::allgather && call_.collective != Collective::gather;
  const bool lists_output = call_.collective != Collective::reduce_scatter && call_.collective != Collective::scatter;
  if (lists_input) call.in_blocks = {in_counts_, in_offsets_};
  if (lists_output) call.out_blocks = {out_counts_, out_offsets_};
  return call;
}

/// In place: with the same address or with MPI_IN_PLACE. Where a rank has no buffer: with none or with any.
void Invocation::place(detail::Call& call) const {
  const Collective collective = call_.collective;
  if (layout_.input_in_output) {
    const bool has_mpi_form = collective != Collective::broadcast;
    if (!has_mpi_form || !chance(call_, 0x1c, comm_.rank())) return;
    if (collective == Collective::scatter)
      call.out = MPI_IN_PLACE;
    else
      call.in = MPI_IN_PLACE;
  } else if (collective == Collective::broadcast && layout_.in.counts.empty() && chance(call_, 0x1d, comm_.rank())) {
    call.in = call.out;
  }
}

/// Lists the messages of one pair in the order of the call, and the pairs in any.
void Invocation::list_messages() {
  const int rank = comm_.rank().value();
  const auto element = size_of(call_.type).value();
  std::size_t sent = 0, received = 0;
  for (const Message& message : call_.messages) {
    if (message.from == rank) {
      const std::int64_t at = layout_.in.offsets[sent++] * element;
      transfers_.push_back({true, memory_.in() + at, Count{message.count}, Rank{message.to}});
    }
    if (message.to == rank) {
      const std::int64_t at = layout_.out.offsets[received++] * element;
      transfers_.push_back({false, memory_.out() + at, Count{message.count}, Rank{message.from}});
    }
  }
  const auto turn = [&](const Transfer& transfer) {
    return mixed({call_.key, 0xb, static_cast<std::uint64_t>(rank), static_cast<std::uint64_t>(transfer.peer.value()),
                  transfer.is_sent ? 1U : 0U});
  };
  if (call_.kind == Kind::batch)
    std::ranges::stable_sort(transfers_, {}, turn);
  else if (call_.kind == Kind::sendrecv)
    std::ranges::stable_sort(transfers_, std::greater{}, &Transfer::is_sent);
  else  // even ranks send first, so that blocking calls meet
    std::ranges::stable_sort(transfers_, std::greater{},
                             [&](const Transfer& transfer) { return transfer.is_sent == (rank % 2 == 0); });
}

void Invocation::run() {
  const Type type = call_.type;
  if (call_.kind == Kind::collective) {
    detail::run(collective_call(), comm_, {.algorithm = call_.algorithm});
  } else if (call_.kind == Kind::batch) {
    batches_[0].run();
  } else if (call_.kind == Kind::sendrecv) {
    const Transfer &out = transfers_[0], &in = transfers_[1];
    sendrecv(out.data, out.count, out.peer, in.data, in.count, in.peer, type, comm_);
  } else {
    for (const auto& [is_sent, data, count, peer] : transfers_)
      is_sent ? send(data, count, type, peer, comm_) : recv(data, count, type, peer, comm_);
  }
}

std::vector<Request> Invocation::start() {
  const Type type = call_.type;
  std::vector<Request> requests;
  if (call_.kind == Kind::collective) {
    requests.push_back(detail::start(collective_call(), comm_, {.algorithm = call_.algorithm}));
  } else if (call_.kind == Kind::batch) {
    requests.push_back(batches_[0].start());
  } else if (call_.kind == Kind::sendrecv) {
    const Transfer &out = transfers_[0], &in = transfers_[1];
    requests.push_back(sendrecv_async(out.data, out.count, out.peer, in.data, in.count, in.peer, type, comm_));
  } else {
    for (const auto& [is_sent, data, count, peer] : transfers_)
      requests.push_back(is_sent ? send_async(data, count, type, peer, comm_)
                                 : recv_async(data, count, type, peer, comm_));
  }
  return requests;
}

std::vector<Plan> Invocation::prepare() {
  const Type type = call_.type;
  std::vector<Plan> plans;
  if (call_.kind == Kind::collective) {
    plans.push_back(detail::prepare(collective_call(), comm_, {.algorithm = call_.algorithm}));
  } else if (call_.kind == Kind::batch) {
    plans.push_back(batches_[0].plan());
  } else if (call_.kind == Kind::sendrecv) {
    const Transfer &out = transfers_[0], &in = transfers_[1];
    plans.push_back(plan_sendrecv(out.data, out.count, out.peer, in.data, in.count, in.peer, type, comm_));
  } else {
    for (const auto& [is_sent, data, count, peer] : transfers_)
      plans.push_back(is_sent ? plan_send(data, count, type, peer, comm_) : plan_recv(data, count, type, peer, comm_));
  }
  return plans;
}

bool has_mpi_result(const Call& call) {
  if (call.kind != Kind::collective) return false;
  return !reduces(call.collective) ||
         (bench::mpi_type(call.type).has_value() && bench::mpi_op(call.op.kind()).has_value());
}

std::vector<std::byte> mpi_result(const Call& call, int repetition, int rank, MPI_Comm comm) {
  const Layout layout = layout_of(call, rank);
  const std::int64_t element = size_of(call.type).value();
  const auto bytes_of = [element](const Side& side) { return static_cast<std::size_t>(side.total() * element); };
  std::vector<std::byte> in(bytes_of(layout.in)), out(bytes_of(layout.out));
  bench::write_input(operands_of(call, repetition), rank, 0, in);
  const bool combines = reduces(call.collective);
  const std::int64_t unit = combines ? 1 : element;
  MPI_Datatype type = combines ? *bench::mpi_type(call.type) : MPI_BYTE;
  MpiCall on{call, comm, in, out, {layout.in, unit}, {layout.out, unit}, type};
  combines ? reduce_elements(on) : move_elements(on);
  return out;
}

}  // namespace tutti::soak
