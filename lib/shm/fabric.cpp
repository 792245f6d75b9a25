#include "lib/shm/fabric.hpp"

#include <utility>

#include "lib/mpi/check.hpp"

namespace tutti::shm {

Fabric::Fabric(MPI_Comm node, int contexts) {
  mpi::check(MPI_Comm_size(node, &ranks_), "MPI_Comm_size");
  mpi::check(MPI_Comm_rank(node, &me_), "MPI_Comm_rank");
  geometry_ = Geometry::for_ranks(ranks_);
  segment_ = std::make_shared<Segment>(node, Segment::first_free + contexts * geometry_.window_bytes(ranks_));
}

Links& Fabric::links(int context) {
  const auto found = links_.find(context);
  if (found != links_.end()) return *found->second;
  const std::int64_t offset = Segment::first_free + context * geometry_.window_bytes(ranks_);
  auto links = std::make_unique<Links>(segment_, geometry_, offset, ranks_, me_);
  return *links_.emplace(context, std::move(links)).first->second;
}

}  // namespace tutti::shm
