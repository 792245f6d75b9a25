#pragma once
// The rules of the site, the same on all ranks.

#include <mpi.h>

#include <memory>
#include <string_view>

#include "lib/core/selection/site_rules.hpp"

namespace tutti {

/// The facts of this process that files of rules are compared with; the form of the job is not among them.
[[nodiscard]] SiteFacts site_facts();

/// Collective over `comm`: rank 0 finds and checks the rules, and all ranks get them. `named`: the files, as
/// TUTTI_RULES names them; empty: the usual places. `nodes` 0: the form of the job does not count. nullptr: there are
/// none. Throws ArgumentError on all ranks if a file is wrong, none of those named fits, or a rank has other algorithms
/// than rank 0. Cost: one broadcast of 16 bytes; if there are rules, two of their path and text with their lengths, and
/// an allreduce.
[[nodiscard]] std::shared_ptr<const SiteRules> agree_on_rules(MPI_Comm comm, std::string_view named, int nodes,
                                                              int ppn);

}  // namespace tutti
