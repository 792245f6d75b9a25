#pragma once
// All device memory that the ranks of a node have of each other.

#include <memory>

#include "lib/transport/ipc/flag_pages.hpp"
#include "lib/transport/ipc/imports.hpp"
#include "lib/transport/shm/fabric.hpp"

namespace tutti::ipc {

/// Closes all mappings at its end, and waits some time for peers to close theirs.
class Exchange {
 public:
  explicit Exchange(const shm::Fabric& fabric);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  ~Exchange();

  [[nodiscard]] Exports& exports() { return exports_; }
  [[nodiscard]] Imports& imports() { return imports_; }
  [[nodiscard]] FlagPages& flags() { return flags_; }

  // All of this process are in a list.
  static Exchange* first;
  Exchange* next;

 private:
  shm::ExportTable table_;
  Exports exports_{table_};
  Imports imports_{table_};
  FlagPages flags_;
};

/// The one of a carrier, made at first.
[[nodiscard]] inline Exchange& exchange_of(const shm::Fabric& fabric, std::shared_ptr<Exchange>& slot) {
  if (slot == nullptr) slot = std::make_shared<Exchange>(fabric);
  return *slot;
}

}  // namespace tutti::ipc
