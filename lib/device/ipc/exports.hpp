#pragma once
// The allocations of this rank on devices that its peers may map.

#include <array>
#include <cstdint>
#include <vector>

#include "lib/core/memory/memory_kind.hpp"
#include "lib/core/transport/shm/segment/export_table.hpp"
#include "lib/device/ipc/handles.hpp"

namespace tutti::ipc {

/// Bytes of an allocation in the table of its owner.
struct ExportedAddress {
  std::int32_t number = -1;  ///< -1: peers cannot map it.
  std::uint32_t generation = 0;
  std::int64_t offset = 0;
  [[nodiscard]] bool is_there() const { return number >= 0; }
  [[nodiscard]] bool is_in_allocation_of(const ExportedAddress& other) const {
    return number == other.number && generation == other.generation;
  }
};

/// One bounded table: the allocation that was used least recently makes room, unless Tutti owns it. Peers close their
/// mapping of one that was withdrawn when they next look.
class Exports {
 public:
  explicit Exports(const shm::ExportTable& table) : table_(&table) {}

  /// The place of `data` in its allocation. Until give_back() it stays. `is_owned`: Tutti owns the allocation. Throws
  /// Error if there is no memory for the table.
  [[nodiscard]] ExportedAddress lend(const Allocation& allocation, const std::byte* data, CUcontext context,
                                     bool is_owned);
  void give_back(const ExportedAddress& address);
  /// Hands descriptors to peers that have asked for them.
  void serve();

  /// The number of an allocation that begins there; -1: it has none.
  [[nodiscard]] int find(const std::byte* begin) const;
  /// Lets peers close it, ahead of its being freed. Until forget() nothing else gets its place.
  void withdraw(int number);
  [[nodiscard]] bool is_mapped(int number) const;
  void forget(int number) { mine_[static_cast<std::size_t>(number)].is_leaving = false; }

 private:
  struct Mine {
    std::uint64_t id = 0;  ///< The allocation's; 0: none.
    const std::byte* begin = nullptr;
    std::uint32_t generation = 0;
    int lent = 0;  ///< Messages that refer to it.
    std::uint64_t used = 0;
    bool is_leaving = false, is_owned = false;
    shm::Descriptor descriptor{}, listener{};
  };
  [[nodiscard]] int number_of(const Allocation& allocation, CUcontext context, bool is_owned);
  [[nodiscard]] int free_number();
  void withdraw_stale();
  void publish(int number, const Allocation& allocation, Handle handle);

  const shm::ExportTable* table_;
  std::array<Mine, shm::ExportTable::places> mine_{};
  std::uint64_t uses_ = 0;
  int polls_ = 0;
  bool is_reserved_ = false;
};

}  // namespace tutti::ipc
