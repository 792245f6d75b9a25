#include "tests/fake_cuda/driver/ticket.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "tests/fake_cuda/driver/settings.hpp"
#include "tests/fake_cuda/driver/stream.hpp"

namespace fake_cuda {

unsigned handle_types() {
  unsigned types = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  if (settings().has_fabric) types |= CU_MEM_HANDLE_TYPE_FABRIC;
  return types;
}

int open_file(const Ticket& ticket) {
  const std::string path = "/proc/" + std::to_string(ticket.owner) + "/fd/" + std::to_string(ticket.file);
  return ::open(path.c_str(), O_RDWR | O_CLOEXEC);
}

RegionPointer map_memory(const Ticket& ticket, Context* context, RegionKind kind) {
  const int file = open_file(ticket);
  struct stat status {};
  const std::size_t whole = rounded(ticket.bytes, page);
  if (file < 0 || ::fstat(file, &status) != 0 || static_cast<std::size_t>(status.st_size) != header_bytes + whole) {
    if (file >= 0) ::close(file);
    return nullptr;
  }
  const bool is_part = settings().opens_blocks && kind == RegionKind::ipc && whole <= granule / 2;
  RegionPointer region =
      is_part ? map_file_in_block(file, Memory::get().reserve_addresses(granule), whole, ticket.base % granule, kind)
              : map_file(file, Memory::get().reserve_addresses(whole), whole, ticket.bytes, kind);
  if (region == nullptr || region->header->magic != Header::right_magic || region->header->id != ticket.id ||
      region->header->is_freed != 0)
    return nullptr;
  region->is_imported = true;
  region->owner_base = ticket.base;
  region->context = context;
  region->header->importers.add();
  region->tracks().history.learn(static_cast<std::uint64_t>(::getpid()), Streams::get().host_clock(), false);
  return region;
}

}  // namespace fake_cuda
