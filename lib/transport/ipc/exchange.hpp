#pragma once
// All device memory that the ranks of a node have of each other.

#include <span>

#include "lib/transport/ipc/imports.hpp"

namespace tutti::ipc {

class Exchange {
 public:
  explicit Exchange(shm::ExportTable table);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  ~Exchange();

  [[nodiscard]] Exports& exports() { return exports_; }
  [[nodiscard]] Imports& imports() { return imports_; }

  /// All of this process.
  [[nodiscard]] static std::span<Exchange* const> all();

 private:
  shm::ExportTable table_;
  Exports exports_{table_};
  Imports imports_{table_};
};

}  // namespace tutti::ipc
