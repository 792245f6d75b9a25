#include "lib/transport/stream/gate.hpp"

#include "tutti/error.hpp"

namespace tutti::stream {
namespace {

constexpr const char* why = "the library was built without CUDA";

}  // namespace

std::unique_ptr<Gates> make_gates() { throw Error(why); }
int device_of(CUstream_st* /*stream*/) { throw Error(why); }
bool is_captured(CUstream_st* /*stream*/) { throw Error(why); }
void let_captures_be() noexcept {}

}  // namespace tutti::stream
