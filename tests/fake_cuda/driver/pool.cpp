#include "tests/fake_cuda/driver/pool.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <utility>

namespace fake_cuda {

Pool::~Pool() {
  if (file >= 0) ::close(file);
}

Pools& Pools::get() {
  static Pools* const pools = new Pools;
  return *pools;
}

CUmemoryPool Pools::add(PoolPointer pool) {
  next_ += 16;
  const auto handle = reinterpret_cast<CUmemoryPool>(next_);
  pool->handle = handle;
  pools_.emplace(handle, std::move(pool));
  return handle;
}

CUmemoryPool Pools::default_of(int device) {
  {
    const std::lock_guard lock{mutex_};
    if (const auto found = defaults_.find(device); found != defaults_.end()) return found->second;
  }
  const CUmemoryPool made = create(device, CU_MEM_HANDLE_TYPE_NONE);
  const std::lock_guard lock{mutex_};
  return defaults_.emplace(device, made).first->second;
}

CUmemoryPool Pools::create(int device, CUmemAllocationHandleType types) {
  const auto pool = std::make_shared<Pool>();
  const std::lock_guard lock{mutex_};
  pool->card.id = next_;
  pool->card.maker = ::getpid();
  pool->card.device = device;
  pool->card.types = types;
  return add(pool);
}

CUmemoryPool Pools::import(const PoolCard& card) {
  const auto pool = std::make_shared<Pool>();
  pool->card = card;
  pool->is_imported = true;
  const std::lock_guard lock{mutex_};
  return add(pool);
}

bool Pools::destroy(CUmemoryPool handle) {
  const std::lock_guard lock{mutex_};
  for (const auto& [device, pool] : defaults_)
    if (pool == handle) return false;
  return pools_.erase(handle) > 0;
}

PoolPointer Pools::find(CUmemoryPool handle) {
  const std::lock_guard lock{mutex_};
  const auto found = pools_.find(handle);
  return found == pools_.end() ? nullptr : found->second;
}

void Pools::set_access(Pool& pool, int device, bool has) {
  const std::lock_guard lock{mutex_};
  if (has)
    pool.devices.insert(device);
  else
    pool.devices.erase(device);
}

bool Pools::has_access(const Pool& pool, int device) {
  const std::lock_guard lock{mutex_};
  return pool.card.device == device || pool.devices.contains(device);
}

int Pools::export_card(Pool& pool) {
  const std::lock_guard lock{mutex_};
  if (pool.file >= 0) return pool.file;
  pool.file = ::memfd_create("fake_cuda_pool", MFD_CLOEXEC);
  if (::write(pool.file, &pool.card, sizeof pool.card) != sizeof pool.card) return -1;
  return pool.file;
}

}  // namespace fake_cuda
