#pragma once
// Memory on devices that Tutti allocates, for itself or for programs: freed once no peer has it mapped.

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace tutti::ipc {

class Exchange;

/// Needs an Entry (lib/runtime/progress.hpp).
class OwnedMemory {
 public:
  static OwnedMemory& get();

  /// Memory of the device of that number: memory that waits to be freed is given time to be, if there is no other.
  /// nullptr: there is none. Throws Error.
  [[nodiscard]] std::byte* allocate(int device, std::int64_t bytes);
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
    std::vector<std::pair<Exchange*, int>> places;
  };
  [[nodiscard]] bool is_free(const Leaving& memory) const;
  void collect_for(std::int64_t milliseconds) noexcept;

  std::map<std::byte*, int> devices_;  ///< By address.
  std::vector<Leaving> leaving_;
};

}  // namespace tutti::ipc
