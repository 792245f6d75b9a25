// A build without xxHash's header: nothing here but the first function is ever needed.
#include "lib/watch/bits/hash.hpp"

namespace tutti::bits {

struct Hash::State {};

const char* why_no_hash() { return "this library was built without xxHash's header"; }

Hash::Hash() = default;
Hash::~Hash() = default;
void Hash::reset() {}
void Hash::update(const void* /*data*/, std::size_t /*bytes*/) {}
std::uint64_t Hash::value() const { return 0; }

}  // namespace tutti::bits
