#pragma once
// Which algorithm runs when the user does not say.

#include <span>
#include <string_view>
#include <vector>

#include "lib/selection/choices.hpp"
#include "tutti/op.hpp"
#include "tutti/types.hpp"

namespace tutti {

/// The facts that a choice depends on: only those that all ranks know alike, so that all choose the same.
struct Question {
  Collective collective = Collective::barrier;
  int ranks = 1, nodes = 1;
  Bytes bytes{};  ///< Of the larger buffer; meaningless if `is_uneven` and ranks know only their own counts.
  bool is_uneven = false, is_commutative = true;
  bool shares_memory = false;  ///< All messages go through shared memory.
  bool on_devices = false;  ///< So they do, to peers that map the memory of devices in which buffers are taken to be.
  bool shares_processors = false;  ///< So they do, and the node runs two ranks or more for each processor.
  std::span<const int> spread{};   ///< The node of each rank, as in Problem; empty: there is one.
};

struct Selection {
  Choice choice;
  std::string_view why;   ///< "as few bytes want few rounds"
  bool is_users = false;  ///< The user chose it.
};

/// Whether the operation may be combined in the order that the algorithm keeps there.
[[nodiscard]] bool serves(const Choice& choice, const Question& question);

/// The user's choice for the collective, unless that needs a commutative operation and this is not one; else, on
/// devices that of select_for_devices(), on several nodes that of select_on_nodes(), if there is one; else that of the
/// first line of the table in selection.cpp that fits. A pure function.
[[nodiscard]] Selection select(const Question& question, const UserChoices& users);

/// The selection from so many bytes on, up to those of the next.
struct SelectionFrom {
  Bytes bytes;
  Selection selection;
};
/// What select() gives for 0 bytes to 1 TiB, whatever bytes the question has: one for each change of the
/// choice, or of its reason.
[[nodiscard]] std::vector<SelectionFrom> select_by_size(Question question, const UserChoices& users);

}  // namespace tutti
