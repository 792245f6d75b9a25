#include "tests/fake_cuda/ptx/coverage.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <mutex>

namespace fake_cuda::ptx {
namespace {

struct Spellings {
  std::mutex mutex;
  std::map<std::string, std::uint32_t> numbers;
  std::deque<std::atomic<bool>> executed;  // never moves its elements
};
Spellings& all() {
  static Spellings* const spellings = new Spellings;
  return *spellings;
}

}  // namespace

std::uint32_t spelling_of(const std::string& text) {
  const std::lock_guard lock{all().mutex};
  const auto [found, is_new] = all().numbers.try_emplace(text, static_cast<std::uint32_t>(all().executed.size()));
  if (is_new) all().executed.emplace_back(false);
  return found->second;
}

void cover(std::uint32_t spelling) {
  std::atomic<bool>& executed = all().executed[spelling];
  if (!executed.load(std::memory_order_relaxed)) executed.store(true, std::memory_order_relaxed);
}

std::vector<std::string> spellings(bool executed_only) {
  const std::lock_guard lock{all().mutex};
  std::vector<std::string> texts;
  for (const auto& [text, number] : all().numbers)
    if (!executed_only || all().executed[number]) texts.push_back(text);
  return texts;
}

}  // namespace fake_cuda::ptx
