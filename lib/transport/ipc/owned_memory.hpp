#pragma once
// Memory on devices that Tutti allocates, for itself or for programs: freed once no peer has it mapped.

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "lib/memory/own_process.hpp"

namespace tutti::ipc {

class Exchange;

/// Needs an Entry (lib/runtime/progress.hpp).
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

}  // namespace tutti::ipc
