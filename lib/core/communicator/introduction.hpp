#pragma once
// What a communicator tells of itself where TUTTI_LOG is info.

#include <string>

namespace tutti::detail {

class Membership;

/// "rank 3, communicator 0 (8 ranks)", in front of every line of the log.
[[nodiscard]] std::string name_in_log(const Membership& communicator);

/// On rank 0, one line a fact: with the process's first communicator the versions and optional parts; ranks, nodes and
/// sockets; transports; settings that are not the default, and where they come from; the algorithm of each collective
/// by size.
void introduce(const Membership& communicator);

}  // namespace tutti::detail
