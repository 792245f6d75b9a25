#include "lib/device/driver/pending_waits.hpp"

#include <algorithm>
#include <vector>

namespace tutti::cuda {
namespace {

std::vector<const StreamWaits*>& all() {
  static std::vector<const StreamWaits*>& list = *new std::vector<const StreamWaits*>;  // communicators may outlive it
  return list;
}

}  // namespace

StreamWaits::StreamWaits() { all().push_back(this); }
StreamWaits::~StreamWaits() { std::erase(all(), this); }

bool StreamWaits::any_pending() noexcept {
  return std::ranges::any_of(all(), [](const StreamWaits* each) { return each->are_pending(); });
}

bool StreamWaits::any_possible() noexcept {
  return std::ranges::any_of(all(),
                             [](const StreamWaits* each) { return each->are_in_graphs() || each->are_pending(); });
}

}  // namespace tutti::cuda
