#include "ucx/library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <string_view>

#include "tutti/error.hpp"

namespace tutti::ucx {
namespace {

constexpr const char* file_name = "libucp.so.0";

/// The first version that has all functions which this code uses. Later ones of the same major version keep them.
constexpr unsigned needed_major = 1, needed_minor = 11;

/// The path of the UCX that the process has already, in any folder and of any version; empty: it has none.
std::string loaded_path() {
  std::string path;
  const auto look = [](dl_phdr_info* object, std::size_t /*size*/, void* found) {
    const std::string_view name = object->dlpi_name;
    if (!name.substr(name.rfind('/') + 1).starts_with("libucp")) return 0;
    *static_cast<std::string*>(found) = name;
    return 1;
  };
  dl_iterate_phdr(look, &path);
  return path;
}

void* opened() {
  // To stay: UCX leaves threads and handlers behind that must not point into unloaded code.
  constexpr int how = RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE;
  const std::string loaded = loaded_path();
  void* const handle = dlopen(loaded.empty() ? file_name : loaded.c_str(), how);
  if (handle == nullptr) throw Error(fmt::format("UCX cannot be opened: {}", dlerror()));
  return handle;
}

template <class Function>
void find(void* handle, const char* name, Function& function) {
  // POSIX: the result of dlsym for a function may be converted to its type.
  function = reinterpret_cast<Function>(dlsym(handle, name));
  if (function == nullptr) throw Error(fmt::format("the UCX that was found has no function {}", name));
}

void require_version(Library& ucx) {
  ucx.get_version(&ucx.major, &ucx.minor, &ucx.release);
  if (ucx.major != needed_major || ucx.minor < needed_minor)
    throw Error(fmt::format("UCX {}.{}.{} was found; needed: {}.{} or later", ucx.major, ucx.minor, ucx.release,
                            needed_major, needed_minor));
}

Library open() {
  void* const handle = opened();
  Library ucx{};
  find(handle, "ucp_get_version", ucx.get_version);
  require_version(ucx);
  find(handle, "ucs_status_string", ucx.status_string);  // in a library that this one needs
  find(handle, "ucp_config_read", ucx.config_read);
  find(handle, "ucp_config_release", ucx.config_release);
  find(handle, "ucp_init_version", ucx.init_version);
  find(handle, "ucp_cleanup", ucx.cleanup);
  find(handle, "ucp_context_query", ucx.context_query);
  find(handle, "ucp_context_print_info", ucx.context_print_info);
  find(handle, "ucp_worker_create", ucx.worker_create);
  find(handle, "ucp_worker_destroy", ucx.worker_destroy);
  find(handle, "ucp_worker_query", ucx.worker_query);
  find(handle, "ucp_worker_release_address", ucx.worker_release_address);
  find(handle, "ucp_worker_progress", ucx.worker_progress);
  find(handle, "ucp_ep_create", ucx.ep_create);
  find(handle, "ucp_ep_close_nbx", ucx.ep_close_nbx);
  find(handle, "ucp_ep_flush_nbx", ucx.ep_flush_nbx);
  find(handle, "ucp_tag_send_nbx", ucx.tag_send_nbx);
  find(handle, "ucp_tag_recv_nbx", ucx.tag_recv_nbx);
  find(handle, "ucp_tag_probe_nb", ucx.tag_probe_nb);
  find(handle, "ucp_request_cancel", ucx.request_cancel);
  find(handle, "ucp_request_check_status", ucx.request_check_status);
  find(handle, "ucp_request_free", ucx.request_free);
  return ucx;
}

}  // namespace

const Library& library() {
  static const Library opened = open();
  return opened;
}

}  // namespace tutti::ucx
