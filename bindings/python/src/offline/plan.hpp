#pragma once
// ScheduleBuilder for Python: the steps of one rank.

#include <nanobind/nanobind.h>

#include "tutti/schedule.hpp"

namespace tutti::python {

/// Adds the classes Region and Plan.
void add_plan(nanobind::module_& module);

/// The schedule that `write(plan, rank, size, count)` writes.
[[nodiscard]] Schedule written(const nanobind::callable& write, const Problem& problem);

}  // namespace tutti::python
