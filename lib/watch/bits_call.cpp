#include "lib/watch/bits_call.hpp"

#include <string>
#include <vector>

#include "lib/core/transport/mpi/handles.hpp"
#include "tutti/algorithm.hpp"

namespace tutti::detail {
namespace {

/// All that is the same in every run.
bits::CallRecord record_of(CommunicatorBits& communicator, const PreparedPlan& plan) {
  const records::Signature& call = plan.signature();
  const bool is_collective = call.action < records::Action::messages;
  bits::CallRecord record;
  record.action = static_cast<std::uint8_t>(call.action);
  record.type = static_cast<std::uint8_t>(plan.key().type);
  record.communicator = communicator.record().number;
  record.count = call.count;
  if (call.is_uneven) record.flags = bits::CallRecord::uneven;
  if (call.is_uneven || !is_collective) record.lists = hash_of_lists(plan.key(), communicator.watch().hash());
  if (!is_collective) return record;
  const Collective collective = plan.key().problem.collective;
  if (reduces(collective)) record.op = static_cast<std::uint8_t>(call.op);
  if (reduces(collective)) record.scale = plan.key().op.scale();
  if (has_root(collective)) record.root = call.root;
  to_text(plan.key().choice).copy(record.algorithm.data(), record.algorithm.size() - 1);
  return record;
}

}  // namespace

std::unique_ptr<CommunicatorBits> CommunicatorBits::make(const Membership& communicator, MPI_Comm comm) {
  BitsWatch& watch = communicator.runtime().bits();
  if (communicator.settings().bits_files.empty() || !watch.is_on()) return nullptr;
  const std::vector<int> ranks = mpi::translated_ranks(comm, MPI_COMM_WORLD);
  watch.hash().reset();
  watch.hash().update(ranks.data(), ranks.size() * sizeof(int));
  const Members& members = communicator.members();
  return std::unique_ptr<CommunicatorBits>{
      new CommunicatorBits{watch, watch.add(watch.hash().value(), members.me().value(), members.size())}};
}

BitsOfCall::BitsOfCall(CommunicatorBits& communicator, const PreparedPlan& plan)
    : communicator_(communicator),
      record_(record_of(communicator, plan)),
      inputs_(inputs_of(plan.key())),
      results_(results_of(plan.key())) {}

void BitsOfCall::entered(const Entrance& run) {
  record_.manner = static_cast<std::uint8_t>(run.call.manner);
  record_.number = communicator_.next(run.call.action == records::Action::messages);
  record_.call = communicator_.watch().next_call();
  in_ = run.in;
  out_ = run.out;
  has_gaps_ = run.has_gaps;
  has_begun_ = false;
  const bool by_device = run.call.manner == records::Manner::in_stream;
  if (by_device || !run.for_stream) begin(by_device ? bits::Hashed::in_stream : bits::Hashed::yes);
}

/// Called again after an exchange of sizes.
void BitsOfCall::started(std::uint64_t /*sequence*/) {
  if (!has_begun_) begin(bits::Hashed::yes);
}

void BitsOfCall::begin(bits::Hashed hashed) {
  has_begun_ = true;
  record_.kind = bits::RecordKind::begin;
  record_.hashed = hashed == bits::Hashed::yes && has_gaps_ ? bits::Hashed::has_gaps : hashed;
  communicator_.watch().add(record_, communicator_.record(), inputs_, in_);
}

/// What keeps inputs from a hash keeps results from one.
void BitsOfCall::end(bits::Hashed hashed) {
  if (!has_begun_) begin(hashed);
  if (hashed == bits::Hashed::failed) record_.hashed = hashed;
  record_.kind = bits::RecordKind::over;
  communicator_.watch().add(record_, communicator_.record(), results_, out_);
}

}  // namespace tutti::detail
