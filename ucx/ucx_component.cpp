// Makes the UCX transport known to the library, which does not refer to it, and describes the UCX that runs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/core/communicator/components.hpp"
#include "lib/core/transport/mpi/api.hpp"
#include "lib/core/transport/mpi/check.hpp"
#include "lib/core/transport/network.hpp"
#include "tutti/error.hpp"
#include "ucx/context.hpp"
#include "ucx/network.hpp"
#include "ucx/tag.hpp"
#include "ucx/ucx_port.hpp"
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

/// The names of UCX's transports that are for CUDA, and how to learn which of them a message takes.
std::string means_for_cuda() {
  const UniqueContext context = make_context(1);
  if (!reads_cuda(context.get())) return {};
  const std::vector<std::string> transports = resources_of(context.get()).transports;
  std::vector<std::string_view> there, missing;
  for (const std::string_view name : {"cuda_copy", "cuda_ipc", "gdr_copy"})
    (std::ranges::find(transports, name) == transports.end() ? missing : there).push_back(name);
  std::string text = fmt::format("{}", fmt::join(there, ", "));
  if (!missing.empty()) text += fmt::format("; no {}", fmt::join(missing, ", "));
  constexpr unsigned first_minor_that_tells = 15;
  if (library().minor >= first_minor_that_tells) text += "; UCX_PROTO_INFO=y shows the way of each size";
  return text;
}

class NetworkWithPorts final : public UcxNetwork {
 public:
  using UcxNetwork::UcxNetwork;
  std::unique_ptr<TransportPort> port(const mpi::NetworkRoute& route, const CompiledPlan& plan) override {
    return std::make_unique<UcxPort>(worker(), *this, route, plan);
  }
};

/// For the carrier `comm`. Local; opens UCX at first use. Throws Error if that fails.
std::unique_ptr<mpi::Network> open_network(MPI_Comm comm) {
  const int me = mpi::rank_in(comm), ranks = mpi::ranks_in(comm);
  if (ranks > senders) throw Error(fmt::format("there are {} ranks; UCX's tags allow {}", ranks, senders));
  return std::make_unique<NetworkWithPorts>(Worker::get(), me, ranks);
}

constexpr mpi::NetworkDriver driver{
    "ucx", open_network, Worker::progress_if_there, Worker::finalize, Worker::check_settings, means_for_cuda};
const mpi::NetworkRegistration registration{driver};

}  // namespace
}  // namespace tutti::ucx

/// By this name programs that link the static library ask for this file, to which nothing else refers
/// (cmake/TuttiProduct.cmake).
extern "C" void tutti_ucx_component() {}
