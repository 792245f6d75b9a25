// Makes the UCX transport known to the library, which does not refer to it, and describes the UCX that runs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>

#include "lib/runtime/components.hpp"
#include "lib/transport/network.hpp"
#include "tutti/error.hpp"
#include "ucx/context.hpp"
#include "ucx/network.hpp"
#include "ucx/worker.hpp"

namespace tutti::ucx {
namespace {

std::string description() {
  try {
    const Library& ucx = library();
    const UniqueContext context = make_context(1);
    const auto [transports, devices] = resources_of(context.get());
    return fmt::format("running {}.{}.{}; transports {}; devices {}; CUDA: {}", ucx.major, ucx.minor, ucx.release,
                       fmt::join(transports, " "), fmt::join(devices, " "), reads_cuda(context.get()) ? "yes" : "no");
  } catch (const Error& error) {
    return error.what();
  }
}

const ComponentRegistration component{[] { return Component{"UCX", description()}; }};

bool can_read_cuda() { return reads_cuda(make_context(1).get()); }

constexpr mpi::NetworkDriver driver{"ucx", UcxNetwork::open, Worker::progress_if_there, Worker::finalize,
                                    can_read_cuda};
const mpi::NetworkRegistration registration{driver};

}  // namespace
}  // namespace tutti::ucx

/// By this name programs that link the static library ask for this file, to which nothing else refers
/// (cmake/TuttiProduct.cmake).
extern "C" void tutti_ucx_component() {}
