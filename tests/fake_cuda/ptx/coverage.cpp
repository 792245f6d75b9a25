#include "tests/fake_cuda/ptx/coverage.hpp"

#include <map>
#include <mutex>

namespace fake_cuda::ptx {
namespace {

struct Spellings {
  std::mutex mutex;
  std::map<std::string, std::atomic<bool>> executed;  // never moves its elements
};
Spellings& all() {
  static Spellings* const spellings = new Spellings;
  return *spellings;
}

}  // namespace

std::atomic<bool>& executed(const std::string& text) {
  const std::lock_guard lock{all().mutex};
  return all().executed[text];
}

std::vector<std::string> spellings(bool executed_only) {
  const std::lock_guard lock{all().mutex};
  std::vector<std::string> texts;
  for (const auto& [text, is_executed] : all().executed)
    if (!executed_only || is_executed) texts.push_back(text);
  return texts;
}

}  // namespace fake_cuda::ptx
