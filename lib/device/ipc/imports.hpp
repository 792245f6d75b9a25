#pragma once
// The allocations of peers on devices that this rank has mapped.

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "lib/device/ipc/exports.hpp"

namespace tutti::ipc {

/// Allocations of peers, as many as their tables have places: one that takes the place of another closes that one.
class Imports {
 public:
  explicit Imports(const shm::ExportTable& table) : table_(&table), seen_(static_cast<std::size_t>(table.ranks())) {}
  Imports(const Imports&) = delete;
  Imports& operator=(const Imports&) = delete;
  ~Imports() { close_all(); }

  enum class State : std::uint8_t { mapped, coming, refused };
  struct Found {
    State state = State::refused;
    CUdeviceptr address = 0;
  };
  /// Where this process has a place of a peer, for the device of that number. `coming`: ask again, its descriptor is on
  /// its way, or what is mapped in its place cannot be closed yet.
  [[nodiscard]] Found find(int owner, const ExportedAddress& address, int device);
  /// A message reads or writes a place until release(): it is not closed before.
  void hold(int owner, const ExportedAddress& address, int device) {
    ++imports_.at({owner, address.number, device}).held;
  }
  void release(int owner, const ExportedAddress& address, int device) {
    --imports_.at({owner, address.number, device}).held;
  }
  /// Closes those that their owners have withdrawn.
  void collect() noexcept;
  void close_all() noexcept;

 private:
  using Key = std::tuple<int, int, int>;  ///< Owner, place, device.
  struct Import {
    std::uint32_t generation = 0;
    State state = State::coming;
    int held = 0;
    bool overlaps = false;  ///< Not mapped because of a mapping that is not closed yet.
    std::chrono::steady_clock::time_point since{};
    Mapping mapping{};
    shm::Descriptor connection{};
  };
  void begin(const Key& key, Import& import);
  static void ask_for_descriptor(Import& import, const shm::Export& shared);
  void receive(const Key& key, Import& import);
  void finish(const Key& key, Import& import, const Handle& handle);
  void wait_for_closing(Import& import);
  void close(const Key& key, Import& import) noexcept;
  void finish_closing() noexcept;
  [[nodiscard]] bool is_withdrawn(const Key& key, const Import& import) const {
    return table_->at(std::get<0>(key), std::get<1>(key)).generation.load(std::memory_order_acquire) !=
           import.generation;
  }

  const shm::ExportTable* table_;
  struct Closing {
    Key key;
    Mapping mapping;
  };
  std::map<Key, Import> imports_;
  std::vector<Closing> closing_;     ///< Not used any more.
  std::vector<std::uint32_t> seen_;  ///< By owner: ExportTable::withdrawn().
};

}  // namespace tutti::ipc
