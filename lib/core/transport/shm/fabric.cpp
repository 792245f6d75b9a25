#include "lib/core/transport/shm/fabric.hpp"

#include <exception>
#include <utility>

namespace tutti::shm {

Fabric::Fabric(const Bootstrap& node, int contexts) : ranks_(node.size()), me_(node.rank()) {
  geometry_ = Geometry::for_ranks(ranks_);
  const std::int64_t heap = Segment::first_free + contexts * geometry_.window_bytes(ranks_);
  const std::int64_t processors = heap + ranks_ * NodeHeap::bytes_of_each(ranks_);
  const std::int64_t journals = rounded(processors + Processors::shared_bytes(ranks_), largest_page);
  exports_at_ = rounded(journals + records::Journal::bytes_of(ranks_), largest_page);
  segment_ = std::make_shared<Segment>(node, exports_at_ + ExportTable::shared_bytes(ranks_));
  map_processors(processors);
  map_journals(journals);
  map_heap(heap);
  agree_on_heap(node);
}

void Fabric::map_processors(std::int64_t offset) {
  try {
    segment_->reserve(offset, Processors::shared_bytes(ranks_));
    processor_words_ = segment_->map(offset, Processors::shared_bytes(ranks_));
    processors_.emplace(processor_words_.data(), me_);
  } catch (const std::exception&) {  // not attached, or no memory: this rank does not know where the others run
    processors_.reset();
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

void Fabric::map_heap(std::int64_t offset) {
  try {
    heap_ = std::make_shared<NodeHeap>(segment_, offset, ranks_, me_);
  } catch (const std::exception&) {  // not attached, or a limit of address space: messages are copied then
    heap_ = nullptr;
  }
}

/// Agrees that all ranks have the heap or none does: a sender names data by their offset in the heap, and the receiver
/// has to find them there.
void Fabric::agree_on_heap(const Bootstrap& node) {
  int all_have_it = heap_ != nullptr ? 1 : 0;
  node.and_of_all({&all_have_it, 1});
  if (all_have_it == 0) heap_ = nullptr;
}

Links& Fabric::links(int context) {
  const auto found = links_.find(context);
  if (found != links_.end()) return *found->second;
  const std::int64_t offset = Segment::first_free + context * geometry_.window_bytes(ranks_);
  auto links = std::make_unique<Links>(segment_, heap_, geometry_, offset, ranks_, me_);
  return *links_.emplace(context, std::move(links)).first->second;
}

}  // namespace tutti::shm
