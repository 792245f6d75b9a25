#pragma once
// A call of C in its three forms, of a list of buffers or not.

#include <optional>
#include <vector>

#include "tutti.h"

namespace tutti::python {

/// The buffers of a list, which take the place of those of the call; nothing: there is no list.
using ListedBuffers = std::optional<std::vector<tutti_listed_buffer>>;

[[nodiscard]] tutti_status run_call(const tutti_call& call, const ListedBuffers& list, tutti_comm comm,
                                    const tutti_options* options);
[[nodiscard]] tutti_status start_call(const tutti_call& call, const ListedBuffers& list, tutti_comm comm,
                                      const tutti_options* options, tutti_request* request);
[[nodiscard]] tutti_status prepare_call(const tutti_call& call, const ListedBuffers& list, tutti_comm comm,
                                        const tutti_options* options, tutti_plan* plan);

}  // namespace tutti::python
