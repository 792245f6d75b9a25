#pragma once
// All device memory that the ranks of a node have of each other, and the memory that Tutti allocates on devices, for
// itself or for programs: it is freed once no peer has it mapped.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "lib/core/memory/own_process.hpp"
#include "lib/core/transport/shm/fabric.hpp"
#include "lib/device/ipc/flag_pages.hpp"
#include "lib/device/ipc/imports.hpp"

namespace tutti::ipc {

/// Closes all mappings at its end, and waits some time for peers to close theirs.
class Exchange {
 public:
  explicit Exchange(const shm::Fabric& fabric);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  ~Exchange();

  /// As Exports::lend(). Memory that Tutti owns keeps its place.
  [[nodiscard]] ExportedAddress lend(const Allocation& allocation, const std::byte* data, CUcontext context);
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

/// Needs an Entry (lib/core/run/progress.hpp).
class OwnedMemory {
 public:
  static OwnedMemory& get();
  [[nodiscard]] bool is_this_process() const { return process_.is_this(); }

  /// Memory of the device of that number: memory that waits to be freed is given time to be, if there is no other.
  /// nullptr: there is none. Throws Error.
  [[nodiscard]] std::byte* allocate(int device, std::int64_t bytes);
  [[nodiscard]] bool owns(const std::byte* begin) const { return devices_.contains(const_cast<std::byte*>(begin)); }
  /// False: it was not allocated here.
  bool free(std::byte* data) noexcept;
  /// Frees memory that no peer has mapped any more.
  void collect() noexcept;
  /// An exchange ends: its peers are given some time to close their mappings.
  void leave(Exchange& exchange) noexcept;

 private:
  /// Memory that peers have mapped.
  struct Leaving {
    std::byte* data;
    int device;
    std::vector<std::pair<Exchange*, int>> places{};
    bool is_lost = false;  ///< A peer that cannot be asked any more may still have it.
  };
  [[nodiscard]] bool is_free(const Leaving& memory) const;
  template <class IsOver>
  void collect_until(const IsOver& is_over) noexcept;

  OwnProcess process_;
  std::map<std::byte*, int> devices_{};  ///< By address.
  std::vector<Leaving> leaving_;
};

/// The one of a carrier, made at first.
[[nodiscard]] inline Exchange& exchange_of(const shm::Fabric& fabric, std::shared_ptr<Exchange>& slot) {
  if (slot == nullptr) slot = std::make_shared<Exchange>(fabric);
  return *slot;
}

}  // namespace tutti::ipc
