#pragma once
// Memory that the driver knows: of devices, pinned, managed, imported.

#include <cuda.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "tests/fake_cuda/driver/clock.hpp"
#include "tests/fake_cuda/driver/context.hpp"
#include "tests/fake_cuda/driver/importers.hpp"

namespace fake_cuda {

inline constexpr std::size_t page = 4096, granule = std::size_t{2} << 20;

constexpr std::size_t rounded(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

/// At the head of the file of an allocation: every process that has mapped the file sees it.
struct Header {
  static constexpr std::uint64_t right_magic = 0xfa4ecda2;
  std::uint64_t magic, bytes, id;
  int device, owner;  ///< The owner is a process.
  std::atomic<int> is_freed, is_exported;
  Importers importers;
  Tracks tracks;
};
inline constexpr std::size_t header_bytes = rounded(sizeof(Header), page);

struct Pool;

enum class RegionKind : std::uint8_t { device, pool, ipc, vmm, managed, pinned, registered };

/// Made by cuMemCreate, or imported.
struct Physical {
  int file = -1, device = 0, references = 1;
  std::size_t bytes = 0;
  CUmemAllocationProp properties{};
  Physical() = default;
  Physical(const Physical&) = delete;
  Physical& operator=(const Physical&) = delete;
  ~Physical();
};

/// A range of addresses that the program sees. Device memory has no access there; copies and kernels find its bytes at
/// `bytes`.
struct Region {
  std::uint64_t base = 0, size = 0, id = 0;
  RegionKind kind = RegionKind::device;
  std::byte* bytes = nullptr;
  Header* header = nullptr;  ///< nullptr: host memory.
  std::size_t mapped = 0;    ///< From the header on, or from `bytes` if there is none.
  int file = -1, device = 0;
  Context* context = nullptr;
  unsigned flags = 0;
  bool sync_memops = false;
  std::set<int> devices{};              ///< RegionKind::vmm: those that have access.
  std::uint64_t owner_base = 0;         ///< The address of imported memory in the process that owns it.
  bool is_imported = false;             ///< Memory of another process: RegionKind::ipc, or RegionKind::pool.
  bool is_being_freed = false;          ///< An operation of a stream will do it.
  int opened = 1;                       ///< RegionKind::ipc: so many times.
  std::atomic<bool> is_closing{false};  ///< RegionKind::ipc: no operation may use it any more.
  std::shared_ptr<Pool> pool{};
  std::shared_ptr<Physical> physical{};
  Tracks* own_tracks = nullptr;  ///< Only of host memory.
  std::uint64_t device_base =
      0;  ///< Where kernels find registered memory that is elsewhere for them; 0: they do not find it.
  bool is_for_devices = false;  ///< This is the memory at that address.

  Region() = default;
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
  /// Once nobody uses it: an operation may still copy from memory that is being freed.
  ~Region();
  [[nodiscard]] bool is_on_device() const { return kind <= RegionKind::vmm; }
  /// Other processes may use it, too.
  [[nodiscard]] bool is_shared() const {
    return kind == RegionKind::vmm || is_imported || (header != nullptr && header->is_exported != 0);
  }
  [[nodiscard]] Tracks& tracks() { return header == nullptr ? *own_tracks : header->tracks; }
};
using RegionPointer = std::shared_ptr<Region>;

class Memory {
 public:
  static Memory& get();

  /// The region that has the address; nullptr: none has.
  [[nodiscard]] RegionPointer find(std::uint64_t address);
  /// find() for kernels and for values that streams wait for: not the host's address of memory that they find
  /// elsewhere, if at all.
  [[nodiscard]] RegionPointer find_for_device(std::uint64_t address);
  /// A range without access; one that was freed if there is one of this size, as real drivers do. 0: none.
  [[nodiscard]] std::uint64_t reserve_addresses(std::size_t bytes);
  /// Whether device memory was there, or the range is reserved and not mapped.
  [[nodiscard]] bool is_hole(std::uint64_t address);

  CUresult allocate(Context* context, int device, std::size_t bytes, RegionKind kind, RegionPointer& made);
  /// Host memory; fails where the driver knows some already.
  CUresult add_host(Context* context, void* data, std::size_t bytes, RegionKind kind, unsigned flags,
                    RegionPointer& made);
  void add(const RegionPointer& region);
  void remove(const RegionPointer& region);
  /// Marks device memory as freed for all processes, and removes it; of another process: removes its mapping.
  void free(const RegionPointer& region);

  /// The regions for which `is_one` says so.
  template <class Is>
  [[nodiscard]] std::vector<RegionPointer> all(const Is& is_one) {
    const std::lock_guard lock{mutex_};
    std::vector<RegionPointer> found;
    for (const auto& [base, region] : regions_)
      if (is_one(*region)) found.push_back(region);
    return found;
  }
  /// Allocated here, and mapped of other processes that have freed it: until the last mapping goes it is in use.
  [[nodiscard]] std::uint64_t bytes_in_use();
  [[nodiscard]] std::uint64_t next_id() { return ++ids_; }

  // Reserved ranges of cuMemAddressReserve.
  void reserve(std::uint64_t base, std::size_t bytes);
  bool unreserve(std::uint64_t base, std::size_t bytes);
  [[nodiscard]] bool is_reserved(std::uint64_t base, std::size_t bytes);

 private:
  /// A second region for registered memory, at an address for devices.
  CUresult add_for_devices(Region& host);
  [[nodiscard]] std::uint64_t addresses_for(std::size_t bytes, RegionKind kind);
  /// 0: no freed range of that size.
  [[nodiscard]] std::uint64_t take_spare(std::size_t bytes);
  [[nodiscard]] RegionPointer find_locked(std::uint64_t address);

  std::mutex mutex_;
  std::map<std::uint64_t, RegionPointer> regions_;
  std::multimap<std::size_t, std::uint64_t> spare_;  ///< Freed ranges of addresses by size.
  std::map<std::uint64_t, std::size_t> reserved_;
  std::atomic<std::uint64_t> used_{0}, ids_{0};
};

/// A file for device memory with its header; -1: there is none.
int make_file(std::size_t bytes, int device);
/// What is known of an allocation without mapping its file.
struct FileIdentity {
  std::uint64_t id = 0;
  int device = 0, owner = 0;
  bool operator==(const FileIdentity&) const = default;
};
FileIdentity identity_of_file(int file);
/// Maps such a file, of which the program sees `shown` bytes at `base`; nullptr if that fails.
RegionPointer map_file(int file, std::uint64_t base, std::size_t bytes, std::size_t shown, RegionKind kind);
/// Maps a file in the middle of a block of one granule that begins at `base`, whose other bytes are other memory's.
RegionPointer map_file_in_block(int file, std::uint64_t base, std::size_t bytes, std::size_t lead, RegionKind kind);

}  // namespace fake_cuda
