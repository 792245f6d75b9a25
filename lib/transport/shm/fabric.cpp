#include "lib/transport/shm/fabric.hpp"

#include <fmt/format.h>

#include <array>
#include <exception>
#include <utility>

namespace tutti::shm {
namespace {

std::int64_t bytes_of_introductions(int ranks) {
  return SingleCopy::shared_bytes(ranks) + Processors::shared_bytes(ranks);
}

}  // namespace

Fabric::Fabric(const Bootstrap& node, int contexts) : ranks_(node.size()), me_(node.rank()) {
  geometry_ = Geometry::for_ranks(ranks_);
  const std::int64_t heap = Segment::first_free + contexts * geometry_.window_bytes(ranks_);
  const std::int64_t introductions = heap + ranks_ * NodeHeap::bytes_of_each(ranks_);
  const std::int64_t journals = rounded(introductions + bytes_of_introductions(ranks_), largest_page);
  exports_at_ = rounded(journals + records::Journal::bytes_of(ranks_), largest_page);
  segment_ = std::make_shared<Segment>(node, exports_at_ + ExportTable::shared_bytes(ranks_));
  introduce(introductions);
  map_journals(journals);
  map_heap(heap);
  meet(node);
}

/// A rank that cannot take part neither reads nor is read; the others find that out when they first try.
void Fabric::introduce(std::int64_t offset) {
  try {
    segment_->reserve(offset, bytes_of_introductions(ranks_));
    introductions_ = segment_->map(offset, bytes_of_introductions(ranks_));
    processors_.emplace(introductions_.data() + SingleCopy::shared_bytes(ranks_), me_);
    single_copy_ = std::make_shared<SingleCopy>(introductions_.data(), ranks_, me_);
  } catch (const std::exception&) {  // not attached, or no memory: messages are staged
    single_copy_ = nullptr;
  }
}

/// A rank that cannot map them has no record of itself there, and reports nothing of the others.
void Fabric::map_journals(std::int64_t offset) {
  const std::int64_t bytes = records::Journal::bytes_of(ranks_);
  try {
    segment_->reserve(offset, bytes);
    journals_ = std::make_shared<const Mapping>(segment_->map(offset, bytes));
    if (me_ != 0) return;
    const Mapping page = segment_->map(0, page_bytes());
    auto& directory = *reinterpret_cast<records::Directory*>(page.data() + records::Directory::offset);
    directory.journals_at = offset;
    directory.processes = ranks_;
    directory.bytes_of_each = static_cast<std::int32_t>(records::Journal::bytes_of(1));
    directory.mark.store(records::Directory::right_mark, std::memory_order_release);
  } catch (const std::exception&) {
    journals_ = nullptr;
  }
}

void Fabric::open_journal(records::Recorder& recorder, const records::Identity& identity) const {
  if (journals_ == nullptr) return;
  records::Journal& mine = records::Journal::at(journals_->data(), me_);
  mine.open(identity);
  recorder.attach(mine, journals_);
}

const records::Journal* Fabric::journal(int rank) const {
  if (journals_ == nullptr) return nullptr;
  const records::Journal& its = records::Journal::at(std::as_const(*journals_).data(), rank);
  return its.is_open() ? &its : nullptr;
}

std::string Fabric::why_no_single_copy(int peer) const {
  if (single_copy_ == nullptr) return fmt::format("rank {} of the node's {} takes no part", me_, ranks_);
  return single_copy_->why_not(peer);
}

void Fabric::map_heap(std::int64_t offset) {
  try {
    heap_ = std::make_shared<NodeHeap>(segment_, offset, ranks_, me_);
  } catch (const std::exception&) {  // not attached, or a limit of address space: messages are copied then
    heap_ = nullptr;
  }
}

/// Agrees that all ranks have the heap or none does: a sender names data by their offset in the heap, and the receiver
/// has to find them there. From here on the ranks may read from each other's memory, too.
void Fabric::meet(const Bootstrap& node) {
  std::array<int, 2> agreed{heap_ != nullptr ? 1 : 0, SingleCopy::is_restricted() ? 0 : 1};
  node.and_of_all(agreed);
  if (agreed[0] == 0) heap_ = nullptr;
  if (agreed[1] != 0) return;
  int reads = single_copy_ != nullptr && single_copy_->probe((me_ + 1) % ranks_).grants() ? 1 : 0;
  node.and_of_all({&reads, 1});
  if (reads != 0) return;
  SingleCopy::allow_siblings();
  node.barrier();  // nobody asks before
}

Links& Fabric::links(int context) {
  const auto found = links_.find(context);
  if (found != links_.end()) return *found->second;
  const std::int64_t offset = Segment::first_free + context * geometry_.window_bytes(ranks_);
  auto links = std::make_unique<Links>(segment_, heap_, single_copy_, geometry_, offset, ranks_, me_);
  return *links_.emplace(context, std::move(links)).first->second;
}

}  // namespace tutti::shm
