#pragma once
// All device memory that the ranks of a node have of each other.

#include "lib/transport/ipc/imports.hpp"

namespace tutti::ipc {

/// Closes all mappings at its end, and waits some time for peers to close theirs.
class Exchange {
 public:
  explicit Exchange(shm::ExportTable table);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  ~Exchange();

  [[nodiscard]] Exports& exports() { return exports_; }
  [[nodiscard]] Imports& imports() { return imports_; }

  // All of this process are in a list.
  static Exchange* first;
  Exchange* next;

 private:
  shm::ExportTable table_;
  Exports exports_{table_};
  Imports imports_{table_};
};

}  // namespace tutti::ipc
