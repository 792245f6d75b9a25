#pragma once
// The trace of the ranks of a test, which is written while the test runs.

#include <filesystem>
#include <string>
#include <vector>

#include "apps/tutti/trace_job.hpp"
#include "lib/core/communicator/runtime.hpp"
#include "tests/support/mpi_support.hpp"
#include "tests/trace/trace_files.hpp"

namespace tutti::test {

inline std::string own_path() { return detail::Runtime::get().tracing().writer()->path(); }

/// The trace of this rank so far.
inline tool::TraceFile recorded() {
  detail::Runtime::get().tracing().writer()->flush();
  return read(own_path());
}

/// The traces of all ranks. Collective.
inline tool::TracedJob recorded_by_all() {
  detail::Runtime::get().tracing().writer()->flush();
  MPI_Barrier(MPI_COMM_WORLD);
  tool::TracedJob job = tool::read_job(std::filesystem::path{own_path()}.parent_path(), tool::Salvage::no);
  MPI_Barrier(MPI_COMM_WORLD);
  return job;
}

/// The operations since there were so many.
inline std::vector<tool::TracedOperation> since(const tool::TraceFile& file, std::size_t before) {
  return {file.operations.begin() + static_cast<std::ptrdiff_t>(before), file.operations.end()};
}

inline std::vector<trace::StepRecord> steps_of(const tool::TraceFile& file, const tool::TracedOperation& operation) {
  std::vector<trace::StepRecord> steps;
  for (const trace::StepRecord& step : file.steps)
    if (step.operation == operation.begun.operation) steps.push_back(step);
  return steps;
}

inline std::uint64_t bytes_of(const std::vector<trace::StepRecord>& steps, trace::Way way, bool sent) {
  std::uint64_t bytes = 0;
  for (const trace::StepRecord& step : steps)
    if (step.way == way && step.action <= trace::Action::recv_reduce && (step.action == trace::Action::send) == sent)
      bytes += static_cast<std::uint64_t>(step.bytes);
  return bytes;
}

}  // namespace tutti::test
