#pragma once
// Scan and exscan: prefix reductions over the ranks, with and without the rank's own elements.

#include <span>

#include "tutti/call.hpp"
#include "tutti/mistakes.hpp"

namespace tutti {

namespace detail {
inline Call scan_call(const void* in, void* out, Count count, Type type, const Op& op) {
  return {
      .function = "scan", .collective = Collective::scan, .in = in, .out = out, .count = count, .type = type, .op = op};
}
template <class T>
Call scan_call(std::span<const T> in, std::span<T> out, const Op& op, const Communicator& comm) {
  return scan_call(in.data(), out.data(), same_length("scan", in.size(), out.size(), comm), type_of<T>, op);
}
template <class T>
Call scan_call(std::span<T> data, const Op& op) {
  return scan_call(data.data(), data.data(), Count{data.size()}, type_of<T>, op);
}
}  // namespace detail

/// out[i] = in[i] of rank 0 (+) ... (+) in[i] of this rank, for i < count.
///
/// Shapes  `in` and `out`: `count` elements of `type`, separate or the same (in place; MPI_IN_PLACE as `in` works too).
///         avg is not defined here, as each rank's result combines a different number of ranks.
/// Errors  ArgumentError before any message is posted: a null buffer with count > 0, buffers that overlap partly, a
///         count < 0, too large to address or so large that no memory is left for scratch, an operation that the type
///         does not have, an algorithm that is unknown or needs a commutative operation. StateError: the communicator
///         is closed, or MPI is finalized. Error: a message failed, or its size shows that a rank called with other
///         arguments.
/// Cost    That of the algorithm: algorithms/README.md. Nothing is allocated when the same count, type and operation
///         recur.
inline void scan(const void* in, void* out, Count count, Type type, const Op& op, const Communicator& comm,
                 const Options& options = {}) {
  detail::run(detail::scan_call(in, out, count, type, op), comm, options);
}
[[nodiscard]] inline Request scan_async(const void* in, void* out, Count count, Type type, const Op& op,
                                        const Communicator& comm, const Options& options = {}) {
  return detail::start(detail::scan_call(in, out, count, type, op), comm, options);
}
[[nodiscard]] inline Plan plan_scan(const void* in, void* out, Count count, Type type, const Op& op,
                                    const Communicator& comm, const Options& options = {}) {
  return detail::prepare(detail::scan_call(in, out, count, type, op), comm, options);
}

/// Takes buffers of equal length (tutti/ranges.hpp).
template <InputBuffer In, OutputBuffer Out>
requires detail::SameElement<In, Out>
void scan(In&& in, Out&& out, const Op& op, const Communicator& comm, const Options& options = {}) {
  detail::run(detail::scan_call(detail::input_of(in), detail::elements_of(out), op, comm), comm, options);
}
template <LastingInputBuffer In, OutputBuffer Out>
requires detail::SameElement<In, Out>
[[nodiscard]] Request scan_async(In&& in, Out&& out, const Op& op, const Communicator& comm,
                                 const Options& options = {}) {
  return detail::start(detail::scan_call(detail::input_of(in), detail::elements_of(out), op, comm), comm, options);
}
template <LastingInputBuffer In, OutputBuffer Out>
requires detail::SameElement<In, Out>
[[nodiscard]] Plan plan_scan(In&& in, Out&& out, const Op& op, const Communicator& comm, const Options& options = {}) {
  return detail::prepare(detail::scan_call(detail::input_of(in), detail::elements_of(out), op, comm), comm, options);
}

/// In place: one buffer.
template <OutputBuffer Data>
void scan(Data&& data, const Op& op, const Communicator& comm, const Options& options = {}) {
  detail::run(detail::scan_call(detail::elements_of(data), op), comm, options);
}
template <OutputBuffer Data>
[[nodiscard]] Request scan_async(Data&& data, const Op& op, const Communicator& comm, const Options& options = {}) {
  return detail::start(detail::scan_call(detail::elements_of(data), op), comm, options);
}
template <OutputBuffer Data>
[[nodiscard]] Plan plan_scan(Data&& data, const Op& op, const Communicator& comm, const Options& options = {}) {
  return detail::prepare(detail::scan_call(detail::elements_of(data), op), comm, options);
}

namespace detail {
inline Call exscan_call(const void* in, void* out, Count count, Type type, const Op& op) {
  return {.function = "exscan",
          .collective = Collective::exscan,
          .in = in,
          .out = out,
          .count = count,
          .type = type,
          .op = op};
}
template <class T>
Call exscan_call(std::span<const T> in, std::span<T> out, const Op& op, const Communicator& comm) {
  return exscan_call(in.data(), out.data(), same_length("exscan", in.size(), out.size(), comm), type_of<T>, op);
}
template <class T>
Call exscan_call(std::span<T> data, const Op& op) {
  return exscan_call(data.data(), data.data(), Count{data.size()}, type_of<T>, op);
}
}  // namespace detail

/// out[i] = in[i] of rank 0 (+) ... (+) in[i] of the rank before this one, for i < count. Rank 0's `out` is unchanged.
///
/// Shapes, errors and cost are those of scan.
inline void exscan(const void* in, void* out, Count count, Type type, const Op& op, const Communicator& comm,
                   const Options& options = {}) {
  detail::run(detail::exscan_call(in, out, count, type, op), comm, options);
}
[[nodiscard]] inline Request exscan_async(const void* in, void* out, Count count, Type type, const Op& op,
                                          const Communicator& comm, const Options& options = {}) {
  return detail::start(detail::exscan_call(in, out, count, type, op), comm, options);
}
[[nodiscard]] inline Plan plan_exscan(const void* in, void* out, Count count, Type type, const Op& op,
                                      const Communicator& comm, const Options& options = {}) {
  return detail::prepare(detail::exscan_call(in, out, count, type, op), comm, options);
}

/// Takes buffers of equal length (tutti/ranges.hpp).
template <InputBuffer In, OutputBuffer Out>
requires detail::SameElement<In, Out>
void exscan(In&& in, Out&& out, const Op& op, const Communicator& comm, const Options& options = {}) {
  detail::run(detail::exscan_call(detail::input_of(in), detail::elements_of(out), op, comm), comm, options);
}
template <LastingInputBuffer In, OutputBuffer Out>
requires detail::SameElement<In, Out>
[[nodiscard]] Request exscan_async(In&& in, Out&& out, const Op& op, const Communicator& comm,
                                   const Options& options = {}) {
  return detail::start(detail::exscan_call(detail::input_of(in), detail::elements_of(out), op, comm), comm, options);
}
template <LastingInputBuffer In, OutputBuffer Out>
requires detail::SameElement<In, Out>
[[nodiscard]] Plan plan_exscan(In&& in, Out&& out, const Op& op, const Communicator& comm,
                               const Options& options = {}) {
  return detail::prepare(detail::exscan_call(detail::input_of(in), detail::elements_of(out), op, comm), comm, options);
}

/// In place: one buffer.
template <OutputBuffer Data>
void exscan(Data&& data, const Op& op, const Communicator& comm, const Options& options = {}) {
  detail::run(detail::exscan_call(detail::elements_of(data), op), comm, options);
}
template <OutputBuffer Data>
[[nodiscard]] Request exscan_async(Data&& data, const Op& op, const Communicator& comm, const Options& options = {}) {
  return detail::start(detail::exscan_call(detail::elements_of(data), op), comm, options);
}
template <OutputBuffer Data>
[[nodiscard]] Plan plan_exscan(Data&& data, const Op& op, const Communicator& comm, const Options& options = {}) {
  return detail::prepare(detail::exscan_call(detail::elements_of(data), op), comm, options);
}

}  // namespace tutti
