#include "lib/core/transport/shm/segment/export_table.hpp"

#include <utility>

#include "lib/core/transport/shm/segment/geometry.hpp"

namespace tutti::shm {

std::int64_t ExportTable::rank_bytes(int ranks) {
  const std::int64_t words = std::int64_t{ranks} * places * std::int64_t{sizeof(Word)};
  return rounded(line_bytes + places * std::int64_t{sizeof(Export)} + words, largest_page);
}

ExportTable::ExportTable(std::shared_ptr<const Segment> segment, std::int64_t offset, int ranks, int me)
    : segment_(std::move(segment)),
      offset_(offset),
      ranks_(ranks),
      me_(me),
      all_(segment_->map(offset, shared_bytes(ranks))) {}

void ExportTable::reserve() const { segment_->reserve(offset_ + me_ * rank_bytes(ranks_), rank_bytes(ranks_)); }

}  // namespace tutti::shm
