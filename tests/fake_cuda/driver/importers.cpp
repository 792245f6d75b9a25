#include "tests/fake_cuda/driver/importers.hpp"

#include <signal.h>
#include <unistd.h>

#include <set>

#include "tests/fake_cuda/driver/region.hpp"
#include "tests/fake_cuda/driver/report.hpp"
#include "tests/fake_cuda/driver/settings.hpp"

namespace fake_cuda {

bool Importers::replace(int from, int to) {
  for (std::atomic<int>& process : processes_)
    if (int expected = from; process.compare_exchange_strong(expected, to)) return true;
  return false;
}

void Importers::add() {
  if (!replace(0, ::getpid())) caught("no-room", text("more than %zu mappings of an allocation", most));
}

void Importers::remove() { replace(::getpid(), 0); }

std::size_t Importers::count() const {
  std::set<int> living;
  for (const std::atomic<int>& process : processes_)
    if (const int number = process; number != 0 && ::kill(number, 0) == 0) living.insert(number);
  return living.size();
}

void check_importers(const char* name, const Region& region) {
  if (!settings().is_strict_ipc || region.header == nullptr || region.is_imported) return;
  if (const std::size_t count = region.header->importers.count(); count > 0)
    caught("freed-while-mapped",
           text("%s of 0x%lx + %lu: %zu other processes have it mapped", name, region.base, region.size, count));
}

}  // namespace fake_cuda
