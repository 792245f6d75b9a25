#define XXH_INLINE_ALL
#include "lib/watch/bits/hash.hpp"

#include <xxhash.h>

namespace tutti::bits {

struct Hash::State {
  XXH3_state_t xxh3;
};

const char* why_no_hash() { return nullptr; }

Hash::Hash() : state_(std::make_unique<State>()) { reset(); }
Hash::~Hash() = default;

void Hash::reset() { static_cast<void>(XXH3_64bits_reset(&state_->xxh3)); }
void Hash::update(const void* data, std::size_t bytes) {
  static_cast<void>(XXH3_64bits_update(&state_->xxh3, data, bytes));
}
std::uint64_t Hash::value() const { return XXH3_64bits_digest(&state_->xxh3); }

}  // namespace tutti::bits
