#include "tests/fake_cuda/driver/region.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <iterator>
#include <utility>

#include "tests/fake_cuda/driver/report.hpp"
#include "tests/fake_cuda/driver/settings.hpp"

namespace fake_cuda {
namespace {

constexpr int poison = 0xcb;

/// nullptr: there is no memory.
Tracks* new_tracks() {
  void* const tracks = ::mmap(nullptr, sizeof(Tracks), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);  // zeros are valid ones
  return tracks == MAP_FAILED ? nullptr : static_cast<Tracks*>(tracks);
}

}  // namespace

Physical::~Physical() {
  if (file >= 0) ::close(file);
}

Region::~Region() {
  if (header != nullptr) ::munmap(header, mapped);
  if (own_tracks != nullptr) ::munmap(own_tracks, sizeof *own_tracks);
  if (file >= 0 && kind != RegionKind::vmm) ::close(file);
}

Memory& Memory::get() {
  static Memory* const memory = new Memory;  // streams use it until the process ends
  return *memory;
}

RegionPointer Memory::find_locked(std::uint64_t address) {
  auto found = regions_.upper_bound(address);
  if (found == regions_.begin()) return nullptr;
  const RegionPointer& region = (--found)->second;
  return address - region->base < region->size ? region : nullptr;
}

RegionPointer Memory::find(std::uint64_t address) {
  const std::lock_guard lock{mutex_};
  return find_locked(address);
}

RegionPointer Memory::find_for_device(std::uint64_t address) {
  RegionPointer region = find(address);
  const bool is_elsewhere = region != nullptr && region->kind == RegionKind::registered && !region->is_for_devices;
  return is_elsewhere && !settings().maps_registered_memory ? nullptr : region;
}

std::uint64_t Memory::take_spare(std::size_t bytes) {
  const std::lock_guard lock{mutex_};
  const auto found = spare_.find(bytes);
  if (found == spare_.end() || !settings().reuses_addresses) return 0;
  const std::uint64_t base = found->second;
  spare_.erase(found);
  return base;
}

std::uint64_t Memory::reserve_addresses(std::size_t bytes) {
  if (const std::uint64_t spare = take_spare(bytes); spare != 0) return spare;
  void* const range = ::mmap(nullptr, bytes + granule, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) return 0;
  return rounded(reinterpret_cast<std::uint64_t>(range), bytes >= granule ? granule : page);
}

bool Memory::is_hole(std::uint64_t address) {
  const std::lock_guard lock{mutex_};
  for (const auto& [bytes, base] : spare_)
    if (address - base < bytes) return true;
  for (const auto& [base, bytes] : reserved_)
    if (address - base < bytes) return true;
  return false;
}

/// Small memory that is exported by its block lies somewhere in one.
std::uint64_t Memory::addresses_for(std::size_t bytes, RegionKind kind) {
  if (!settings().opens_blocks || kind != RegionKind::device || bytes > granule / 2) return reserve_addresses(bytes);
  if (const std::uint64_t spare = take_spare(bytes); spare != 0) return spare;
  const std::uint64_t block = reserve_addresses(granule);
  return block == 0 ? 0 : block + page * (1 + ids_ % 100);
}

CUresult Memory::allocate(Context* context, int device, std::size_t bytes, RegionKind kind, RegionPointer& made) {
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  if (bytes_in_use() + bytes > settings().memory_bytes) return CUDA_ERROR_OUT_OF_MEMORY;
  const std::size_t whole = rounded(bytes, page);
  const int file = make_file(whole, device);
  const std::uint64_t base = file < 0 ? 0 : addresses_for(whole, kind);
  made = base == 0 ? nullptr : map_file(file, base, whole, bytes, kind);
  if (made == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  if (settings().poisons) std::memset(made->bytes, poison, whole);
  made->device = device;
  made->context = context;
  used_ += bytes;
  add(made);
  log(1, "allocated 0x%lx + %zu", base, bytes);
  return CUDA_SUCCESS;
}

CUresult Memory::add_host(Context* context, void* data, std::size_t bytes, RegionKind kind, unsigned flags,
                          RegionPointer& made) {
  made = std::make_shared<Region>();
  made->base = reinterpret_cast<std::uint64_t>(data);
  made->bytes = static_cast<std::byte*>(data);
  made->size = bytes;
  made->mapped = rounded(bytes, page);
  made->kind = kind;
  made->context = context;
  made->device = context->device;
  made->flags = flags;
  made->id = next_id();
  made->own_tracks = new_tracks();
  if (made->own_tracks == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  const std::lock_guard lock{mutex_};
  const auto next = regions_.lower_bound(made->base);
  if (find_locked(made->base) != nullptr || (next != regions_.end() && next->first < made->base + bytes))
    return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  regions_[made->base] = made;
  const bool is_elsewhere = kind == RegionKind::registered && !settings().maps_registered_memory;
  return is_elsewhere && (flags & CU_MEMHOSTREGISTER_DEVICEMAP) != 0 ? add_for_devices(*made) : CUDA_SUCCESS;
}

CUresult Memory::add_for_devices(Region& host) {
  auto same = std::make_shared<Region>();
  void* const range = ::mmap(nullptr, host.mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  host.device_base = reinterpret_cast<std::uint64_t>(range);
  same->base = host.device_base;
  same->bytes = host.bytes;
  same->size = host.size;
  same->kind = host.kind;
  same->context = host.context;
  same->device = host.device;
  same->id = host.id;
  same->is_for_devices = true;
  same->own_tracks = new_tracks();
  if (same->own_tracks == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  regions_[same->base] = same;
  return CUDA_SUCCESS;
}

void Memory::add(const RegionPointer& region) {
  const std::lock_guard lock{mutex_};
  regions_[region->base] = region;
}

void Memory::remove(const RegionPointer& region) {
  const std::lock_guard lock{mutex_};
  if (const auto found = regions_.find(region->base); found == regions_.end() || found->second != region) return;
  regions_.erase(region->base);
  if (region->device_base != 0) {
    regions_.erase(region->device_base);
    ::munmap(reinterpret_cast<void*>(region->device_base), region->mapped);
  }
  if (region->kind == RegionKind::device || region->kind == RegionKind::pool || region->kind == RegionKind::ipc)
    spare_.emplace(rounded(region->size, page), region->base);
}

void Memory::free(const RegionPointer& region) {
  if (region->is_imported) {
    region->header->importers.remove();
  } else if (region->header != nullptr) {
    region->header->is_freed = 1;
    used_ -= region->size;
  }
  log(1, "freed 0x%lx + %lu", region->base, region->size);
  remove(region);
}

std::uint64_t Memory::bytes_in_use() {
  std::map<std::pair<int, std::uint64_t>, std::uint64_t> orphans;
  for (const RegionPointer& region :
       all([](const Region& each) { return each.is_imported && each.header->is_freed != 0; }))
    orphans[{region->header->owner, region->header->id}] = region->size;
  std::uint64_t bytes = used_;
  for (const auto& [allocation, size] : orphans)
    bytes += size;
  return bytes;
}

void Memory::reserve(std::uint64_t base, std::size_t bytes) {
  const std::lock_guard lock{mutex_};
  reserved_[base] = bytes;
}

bool Memory::unreserve(std::uint64_t base, std::size_t bytes) {
  const std::lock_guard lock{mutex_};
  const auto found = reserved_.find(base);
  if (found == reserved_.end() || found->second != bytes) return false;
  reserved_.erase(found);
  spare_.emplace(bytes, base);
  return true;
}

bool Memory::is_reserved(std::uint64_t base, std::size_t bytes) {
  const std::lock_guard lock{mutex_};
  auto found = reserved_.upper_bound(base);
  if (found == reserved_.begin()) return false;
  --found;
  return base + bytes <= found->first + found->second;
}

int make_file(std::size_t bytes, int device) {
  const int file = ::memfd_create("fake_cuda", MFD_CLOEXEC);
  if (file < 0) return -1;
  void* const mapped = ::ftruncate(file, static_cast<off_t>(header_bytes + bytes)) != 0
                           ? MAP_FAILED
                           : ::mmap(nullptr, header_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) {
    ::close(file);
    return -1;
  }
  auto* const header = static_cast<Header*>(mapped);  // zeros are a valid one
  header->magic = Header::right_magic;
  header->bytes = bytes;
  header->device = device;
  header->owner = ::getpid();
  header->id = Memory::get().next_id();
  ::munmap(mapped, header_bytes);
  return file;
}

FileIdentity identity_of_file(int file) {
  FileIdentity identity;
  const auto read = [&](auto& value, std::size_t offset) {
    return ::pread(file, &value, sizeof value, static_cast<off_t>(offset)) == sizeof value;
  };
  if (!read(identity.id, offsetof(Header, id)) || !read(identity.device, offsetof(Header, device)) ||
      !read(identity.owner, offsetof(Header, owner)))
    return {};
  return identity;
}

namespace {

/// The region of a header and so many bytes behind it, which are mapped.
RegionPointer region_of(void* mapped, std::size_t bytes, int file, std::uint64_t base, std::size_t shown,
                        RegionKind kind) {
  auto region = std::make_shared<Region>();
  region->mapped = header_bytes + bytes;
  region->header = static_cast<Header*>(mapped);
  region->bytes = static_cast<std::byte*>(mapped) + header_bytes;
  region->base = base;
  region->size = shown;
  region->file = file;
  region->kind = kind;
  region->id = Memory::get().next_id();
  return region;
}

}  // namespace

RegionPointer map_file(int file, std::uint64_t base, std::size_t bytes, std::size_t shown, RegionKind kind) {
  void* const mapped = ::mmap(nullptr, header_bytes + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) return nullptr;
  return region_of(mapped, bytes, file, base, shown, kind);
}

RegionPointer map_file_in_block(int file, std::uint64_t base, std::size_t bytes, std::size_t lead, RegionKind kind) {
  constexpr int access = PROT_READ | PROT_WRITE;
  void* const all = ::mmap(nullptr, header_bytes + granule, access, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(all);
  std::memset(begin + header_bytes, poison, granule);
  const auto put = [&](std::byte* where, std::size_t size, std::size_t from) {
    return ::mmap(where, size, access, MAP_SHARED | MAP_FIXED, file, static_cast<off_t>(from)) != MAP_FAILED;
  };
  if (!put(begin, header_bytes, 0) || !put(begin + header_bytes + lead, bytes, header_bytes)) return nullptr;
  return region_of(all, granule, file, base, granule, kind);
}

}  // namespace fake_cuda
