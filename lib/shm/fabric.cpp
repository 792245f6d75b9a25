#include "lib/shm/fabric.hpp"

#include <exception>
#include <utility>

#include "lib/mpi/check.hpp"

namespace tutti::shm {

Fabric::Fabric(MPI_Comm node, int contexts) {
  mpi::check(MPI_Comm_size(node, &ranks_), "MPI_Comm_size");
  mpi::check(MPI_Comm_rank(node, &me_), "MPI_Comm_rank");
  geometry_ = Geometry::for_ranks(ranks_);
  const std::int64_t heap = Segment::first_free + contexts * geometry_.window_bytes(ranks_);
  const std::int64_t identities = heap + ranks_ * NodeHeap::bytes_of_each(ranks_);
  segment_ = std::make_shared<Segment>(node, identities + SingleCopy::shared_bytes(ranks_));
  take_part_in_single_copy(identities);
  map_heap(node, heap);  // which ends with all ranks: each may read from the others from here on
}

/// A rank that cannot take part neither reads nor is read; the others find that out when they first try.
void Fabric::take_part_in_single_copy(std::int64_t offset) {
  try {
    const std::int64_t bytes = SingleCopy::shared_bytes(ranks_);
    segment_->reserve(offset, bytes);
    identities_ = segment_->map(offset, bytes);
    single_copy_ = std::make_shared<SingleCopy>(identities_.data(), ranks_, me_);
  } catch (const std::exception&) {  // not attached, or no memory: messages are staged
    single_copy_ = nullptr;
  }
}

/// All ranks or none: a rank says where in the heap its data are, and whoever gets that has to find them.
void Fabric::map_heap(MPI_Comm node, std::int64_t offset) {
  try {
    heap_ = std::make_shared<NodeHeap>(segment_, offset, ranks_, me_);
  } catch (const std::exception&) {  // not attached, or a limit of address space: messages are copied then
    heap_ = nullptr;
  }
  int is_mapped = heap_ != nullptr ? 1 : 0;
  mpi::check(MPI_Allreduce(MPI_IN_PLACE, &is_mapped, 1, MPI_INT, MPI_MIN, node), "MPI_Allreduce");
  if (is_mapped == 0) heap_ = nullptr;
}

Links& Fabric::links(int context) {
  const auto found = links_.find(context);
  if (found != links_.end()) return *found->second;
  const std::int64_t offset = Segment::first_free + context * geometry_.window_bytes(ranks_);
  auto links = std::make_unique<Links>(segment_, heap_, single_copy_, geometry_, offset, ranks_, me_);
  return *links_.emplace(context, std::move(links)).first->second;
}

}  // namespace tutti::shm
