#pragma once

#include <fmt/format.h>
#include <ucp/api/ucp.h>

#include <string_view>

#include "tutti/error.hpp"
#include "ucx/library.hpp"

namespace tutti::ucx {

/// A call of UCX failed; `status` is its return value.
class UcxError : public Error {
 public:
  UcxError(ucs_status_t status, std::string_view call, SourcePlace where = SourcePlace::current())
      : Error(fmt::format("{} failed: {} ({}), at {}:{}", call, library().status_string(status),
                          static_cast<int>(status), where.file, where.line)),
        status_(status) {}
  [[nodiscard]] ucs_status_t status() const noexcept { return status_; }

 private:
  ucs_status_t status_;
};

/// Throws UcxError unless `status` is UCS_OK; `call` is the name of the function that returned it.
inline void check(ucs_status_t status, std::string_view call, SourcePlace where = SourcePlace::current()) {
  if (status != UCS_OK) throw UcxError(status, call, where);
}

}  // namespace tutti::ucx
