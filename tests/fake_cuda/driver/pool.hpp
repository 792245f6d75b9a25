#pragma once
// Pools of memory, whose allocations are ordered by streams.

#include <cuda.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>

namespace fake_cuda {

/// What other processes learn of a pool: the content of a file.
struct PoolCard {
  static constexpr std::uint64_t right_magic = 0xfa4ecda8;
  std::uint64_t magic = right_magic, id = 0;
  int maker = 0, device = 0;  ///< The maker is a process.
  CUmemAllocationHandleType types = CU_MEM_HANDLE_TYPE_NONE;
};

struct Pool {
  CUmemoryPool handle = nullptr;
  PoolCard card{};
  bool is_imported = false;
  int file = -1;            ///< The file of the card; -1: it was not exported.
  std::set<int> devices{};  ///< Others with access.
  Pool() = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool();
};
using PoolPointer = std::shared_ptr<Pool>;

class Pools {
 public:
  static Pools& get();

  [[nodiscard]] CUmemoryPool default_of(int device);
  CUmemoryPool create(int device, CUmemAllocationHandleType types);
  CUmemoryPool import(const PoolCard& card);
  bool destroy(CUmemoryPool handle);
  /// nullptr: there is no such.
  [[nodiscard]] PoolPointer find(CUmemoryPool handle);
  void set_access(Pool& pool, int device, bool has);
  [[nodiscard]] bool has_access(const Pool& pool, int device);
  /// The file of its card; -1: there is none.
  int export_card(Pool& pool);

 private:
  CUmemoryPool add(PoolPointer pool);
  std::mutex mutex_;
  std::map<CUmemoryPool, PoolPointer> pools_;
  std::map<int, CUmemoryPool> defaults_;
  std::uint64_t next_ = 0x40000;
};

}  // namespace fake_cuda
