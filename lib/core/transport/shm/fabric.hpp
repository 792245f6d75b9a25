#pragma once
// The shared memory of a node, handed out by contexts.

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "lib/core/transport/bootstrap.hpp"
#include "lib/core/transport/shm/links.hpp"
#include "lib/core/transport/shm/segment/export_table.hpp"
#include "lib/core/transport/shm/segment/node_heap.hpp"
#include "lib/core/transport/shm/segment/processors.hpp"
#include "lib/watch/records/recorder.hpp"

namespace tutti::shm {

/// Made once for each duplicate that Tutti's messages travel on. Every context has a window of its own in one sparse
/// segment; memory is taken when it is first needed: the rings of a pair for small messages, the bounce buffers of
/// a rank for larger ones.
class Fabric {
 public:
  /// Collective over `node`, whose ranks are said to share memory. Never throws for a failure that only one rank knows
  /// of.
  Fabric(const Bootstrap& node, int contexts);

  /// Whether two ranks of `node` can talk through it; the same on all ranks.
  [[nodiscard]] bool joins(int a, int b) const { return a == b || (segment_->reaches(a) && segment_->reaches(b)); }
  /// Why it does not join all; empty if it does.
  [[nodiscard]] const std::string& why_not() const { return segment_->why_not(); }
  /// Local. Throws Error if it cannot be mapped.
  [[nodiscard]] Links& links(int context);
  /// Memory for programs; nullptr if not all ranks of `node` can map it, the same on all of them.
  [[nodiscard]] const std::shared_ptr<NodeHeap>& heap() const { return heap_; }
  /// The table of memory on devices, in a mapping of its own. Throws Error if it cannot be mapped.
  [[nodiscard]] ExportTable export_table() const { return {segment_, exports_at_, ranks_, me_}; }
  /// From now on the recorder writes to this rank's journal, too, which other ranks and programs of the node can read;
  /// not if there is no shared memory for it.
  void open_journal(records::Recorder& recorder, const records::Identity& identity) const;
  /// The journal of a rank of `node`; nullptr: this one cannot read it.
  [[nodiscard]] const records::Journal* journal(int rank) const;
  /// Where its ranks run; nullptr if this one cannot know.
  [[nodiscard]] Processors* processors() { return processors_ ? &*processors_ : nullptr; }

 private:
  void map_heap(std::int64_t offset);
  void agree_on_heap(const Bootstrap& node);
  void map_processors(std::int64_t offset);
  void map_journals(std::int64_t offset);

  int ranks_ = 1, me_ = 0;
  Geometry geometry_{};
  std::int64_t exports_at_ = 0;
  std::shared_ptr<const Segment> segment_;
  std::shared_ptr<NodeHeap> heap_;
  Mapping processor_words_;  ///< The shared memory of the next member.
  std::optional<Processors> processors_;
  std::shared_ptr<const Mapping> journals_{};  ///< nullptr: there is no memory for them.
  std::map<int, std::unique_ptr<Links>> links_;
};

}  // namespace tutti::shm
