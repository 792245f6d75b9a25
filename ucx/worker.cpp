#include "ucx/worker.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <cstdint>
#include <utility>

#include "lib/core/communicator/variables.hpp"
#include "lib/core/transport/mpi/api.hpp"
#include "lib/core/transport/mpi/check.hpp"
#include "ucx/error.hpp"

namespace tutti::ucx {
namespace {

/// Never destroyed by itself: a program that ends without MPI_Finalize ends.
Worker*& instance() {
  static Worker* worker = nullptr;
  return worker;
}

int processes() {
  int size = 0;
  mpi::check(mpi::api.Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
  return size;
}

UniqueWorker make_worker(ucp_context_h context) {
  ucp_worker_params_t params{};
  params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  params.thread_mode = UCS_THREAD_MODE_SERIALIZED;  // any thread may call, one at a time: see Progress::Entry
  UniqueWorker worker;
  check(library().worker_create(context, &params, worker.receive()), "ucp_worker_create");
  return worker;
}

std::string address_of(ucp_worker_h worker) {
  ucp_worker_attr_t attributes{};
  attributes.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS;
  check(library().worker_query(worker, &attributes), "ucp_worker_query");
  std::string address(reinterpret_cast<const char*>(attributes.address), attributes.address_length);
  library().worker_release_address(worker, attributes.address);
  return address;
}

enum class WatchUse : std::uint8_t { automatic, never, always };

/// TUTTI_UCX_WATCH.
WatchUse wanted_watch() { return static_cast<WatchUse>(name_setting("TUTTI_UCX_WATCH")); }

/// Whether peers are watched: if the user wants it, else if it costs little. UCX gives up zero-copy rendezvous over
/// RDMA for it.
bool watches_peers(const Resources& resources) {
  using Use = WatchUse;
  const Use use = wanted_watch();
  return use == Use::always || (use == Use::automatic && !resources.have_rdma());
}

}  // namespace

void EndpointTraits::destroy(Handle& endpoint) noexcept {
  const Library& ucx = library();
  const ucp_request_param_t flushed{};
  void* const request = ucx.ep_close_nbx(endpoint.handle, &flushed);
  if (!UCS_PTR_IS_PTR(request)) return;
  while (ucx.request_check_status(request) == UCS_INPROGRESS)
    ucx.worker_progress(endpoint.worker);
  ucx.request_free(request);
}

void Worker::check_settings() { static_cast<void>(wanted_watch()); }

Worker& Worker::get() {
  if (instance() == nullptr) instance() = new Worker;
  return *instance();
}

void Worker::progress_if_there() noexcept {
  if (instance() != nullptr) instance()->progress();
}

Worker::Worker()
    : context_(make_context(processes())),
      worker_(make_worker(context_.get())),
      progress_(library().worker_progress),
      address_(address_of(worker_.get())),
      shares_memory_(resources_of(context_.get()).share_memory()),
      watches_peers_(watches_peers(resources_of(context_.get()))),
      reads_cuda_(ucx::reads_cuda(context_.get())) {}

/// UCX finds out by itself, by its keepalive (UCX_KEEPALIVE_INTERVAL) or by a connection that breaks.
void Worker::on_failure(void* connection, ucp_ep_h /*endpoint*/, ucs_status_t status) {
  static_cast<Connection*>(connection)->failed = status;
  if (instance() != nullptr) instance()->misses_peers_ = true;
}

ucp_ep_h Worker::endpoint(Peer& peer) {
  auto& [address, connection] = peer;
  if (connection.endpoint.get().handle == nullptr) {
    ucp_ep_params_t params{};
    params.address = reinterpret_cast<const ucp_address_t*>(address.data());
    params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
    params.err_handler = {on_failure, &connection};
    constexpr std::uint64_t plain = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    params.field_mask = plain | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
    ucp_ep_h made = nullptr;
    // Inside a node that mode would rule out the fastest ways, and processes are looked after there.
    const bool is_watched = connection.is_far && watches_peers_;
    if (!is_watched || library().ep_create(worker_.get(), &params, &made) != UCS_OK) {
      params.field_mask = plain;  // not every transport has the mode
      check(library().ep_create(worker_.get(), &params, &made), "ucp_ep_create");
    }
    connection.endpoint = UniqueEndpoint{{made, worker_.get()}};
  }
  return connection.endpoint.get().handle;
}

int Worker::take_number() {
  for (std::size_t number = 0; number < numbers_.size(); ++number)
    if (!numbers_[number]) {
      numbers_.set(number);
      return static_cast<int>(number);
    }
  throw Error(
      fmt::format("communicators on {} duplicates of parts of the world are alive, which is all that UCX's tags "
                  "allow; make the first communicator from MPI_COMM_WORLD",
                  networks));
}

void Worker::connected(MPI_Comm comm) { comms_.push_back(mpi::with_same_ranks(comm)); }

/// Returns once all that were connected are here, serving their messages meanwhile.
void Worker::meet() noexcept {
  std::vector<MPI_Request> requests(comms_.size(), MPI_REQUEST_NULL);
  for (std::size_t i = 0; i < comms_.size(); ++i)
    mpi::api.Ibarrier(comms_[i].get(), &requests[i]);
  for (int all_here = 0; all_here == 0;) {
    mpi::api.Testall(static_cast<int>(requests.size()), requests.data(), &all_here, MPI_STATUSES_IGNORE);
    progress();
    sched_yield();
  }
}

/// Nobody closes while another may still send to it, and nobody leaves while another may wait for it to close.
void Worker::finalize() noexcept {
  if (instance() == nullptr) return;
  Worker& worker = *instance();
  worker.meet();
  worker.peers_.clear();
  worker.meet();
  delete std::exchange(instance(), nullptr);
}

}  // namespace tutti::ucx
