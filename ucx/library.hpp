#pragma once
// UCX's functions, found when the program runs.

#include <ucp/api/ucp.h>

#include <string>

namespace tutti::ucx {

/// Named as in ucp/api/ucp.h, without the prefix. Only inline functions of the headers are used beside them.
struct Library {
  decltype(&ucp_get_version) get_version = nullptr;
  decltype(&ucs_status_string) status_string = nullptr;
  decltype(&ucp_config_read) config_read = nullptr;
  decltype(&ucp_config_release) config_release = nullptr;
  decltype(&ucp_init_version) init_version = nullptr;
  decltype(&ucp_cleanup) cleanup = nullptr;
  decltype(&ucp_context_query) context_query = nullptr;
  decltype(&ucp_context_print_info) context_print_info = nullptr;
  decltype(&ucp_worker_create) worker_create = nullptr;
  decltype(&ucp_worker_destroy) worker_destroy = nullptr;
  decltype(&ucp_worker_query) worker_query = nullptr;
  decltype(&ucp_worker_release_address) worker_release_address = nullptr;
  decltype(&ucp_worker_progress) worker_progress = nullptr;
  decltype(&ucp_ep_create) ep_create = nullptr;
  decltype(&ucp_ep_close_nbx) ep_close_nbx = nullptr;
  decltype(&ucp_ep_flush_nbx) ep_flush_nbx = nullptr;
  decltype(&ucp_tag_send_nbx) tag_send_nbx = nullptr;
  decltype(&ucp_tag_recv_nbx) tag_recv_nbx = nullptr;
  decltype(&ucp_tag_probe_nb) tag_probe_nb = nullptr;
  decltype(&ucp_request_cancel) request_cancel = nullptr;
  decltype(&ucp_request_check_status) request_check_status = nullptr;
  decltype(&ucp_request_free) request_free = nullptr;
  unsigned major = 0, minor = 0, release = 0;  ///< The version that runs.
};

/// UCX is opened at first use and never linked nor closed: an MPI may bring a UCX of its own, and a process that has
/// parts of two crashes. So the one that the process has already is taken, if there is one, else the system's.
/// Throws Error that says why it cannot be used.
[[nodiscard]] const Library& library();

}  // namespace tutti::ucx
