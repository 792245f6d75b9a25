// Which calls take which buffers, at compile time: there is nothing to run.
#include <array>
#include <complex>
#include <concepts>
#include <list>
#include <span>
#include <string>
#include <vector>

#include "tests/mpi/call_objects.hpp"

namespace tutti::test {
namespace {

using Vector = std::vector<double>;
using Array = std::array<double, 3>;
using Raw = double[3];
using View = std::span<double>;
using ConstView = std::span<const double>;
using Comm = const Communicator&;
using Counts = const std::vector<int>&;

/// A call with elements that cannot be communicated is found, but does not compile: it says why (mistakes_test.sh).
template <class Call, class First, class... Given>
constexpr bool takes =
    std::invocable<Call, First, Given...>&& detail::mistake_of_buffer<First>() == detail::Mistake::none;

/// The arguments of each call with an input and an output. `lasts`: the input is read after the call has returned.
template <bool lasts, class... Rest, class Call>
constexpr bool takes_two_buffers(Call /*call*/) {
  const bool right = takes<Call, Vector&, Vector&, Rest...> && takes<Call, const Vector&, Vector&, Rest...> &&
                     takes<Call, const Array&, Array&, Rest...> && takes<Call, const Raw&, Raw&, Rest...> &&
                     takes<Call, ConstView, View, Rest...> && takes<Call, View, std::span<double, 3>, Rest...> &&
                     takes<Call, const View&, const View&, Rest...> && takes<Call, double&, double&, Rest...> &&
                     takes<Call, const double&, Vector&, Rest...> && takes<Call, const Vector&, double&, Rest...> &&
                     takes<Call, SharedBuffer<double>&, const SharedBuffer<double>&, Rest...>;
  const bool temporaries = takes<Call, Vector, Vector&, Rest...> || takes<Call, double, Vector&, Rest...> ||
                           takes<Call, Array, Array&, Rest...> || takes<Call, SharedBuffer<double>, View, Rest...>;
  const bool lost = takes<Call, Vector&, Vector, Rest...> || takes<Call, Vector&, double, Rest...> ||
                    takes<Call, Vector&, Array, Rest...> || takes<Call, Vector&, SharedBuffer<double>, Rest...>;
  const bool constant = takes<Call, Vector&, const Vector&, Rest...> || takes<Call, Vector&, ConstView, Rest...> ||
                        takes<Call, double&, const double&, Rest...>;
  const bool mixed = takes<Call, std::vector<float>&, Vector&, Rest...> || takes<Call, int&, double&, Rest...>;
  const bool no_buffers = takes<Call, double*, double*, Rest...> || takes<Call, std::list<double>&, Vector&, Rest...> ||
                          takes<Call, std::vector<bool>&, std::vector<bool>&, Rest...> ||
                          takes<Call, std::string*, std::string*, Rest...> ||
                          takes<Call, volatile double&, double&, Rest...>;
  return right && temporaries != lasts && !lost && !constant && !mixed && !no_buffers;
}

/// The arguments that each call with one written buffer takes.
template <class... Rest, class Call>
constexpr bool takes_an_output(Call /*call*/) {
  const bool right = takes<Call, Vector&, Rest...> && takes<Call, Array&, Rest...> && takes<Call, Raw&, Rest...> &&
                     takes<Call, View, Rest...> && takes<Call, const View&, Rest...> && takes<Call, double&, Rest...> &&
                     takes<Call, Half&, Rest...> && takes<Call, bool&, Rest...> &&
                     takes<Call, std::complex<float>&, Rest...> && takes<Call, const SharedBuffer<double>&, Rest...>;
  const bool wrong = takes<Call, const Vector&, Rest...> || takes<Call, Vector, Rest...> ||
                     takes<Call, double, Rest...> || takes<Call, const double&, Rest...> ||
                     takes<Call, ConstView, Rest...> || takes<Call, double*, Rest...> || takes<Call, Array, Rest...> ||
                     takes<Call, volatile double&, Rest...> || takes<Call, std::vector<bool>&, Rest...>;
  return right && !wrong;
}

template <bool lasts, class Calls>
constexpr bool takes_buffers(Calls /*calls*/) {
  using Operation = const Op&;
  return takes_two_buffers<lasts, Operation, Comm>(Calls::allreduce) &&
         takes_two_buffers<lasts, Operation, Rank, Comm>(Calls::reduce) &&
         takes_two_buffers<lasts, Rank, Comm>(Calls::broadcast) &&
         takes_two_buffers<lasts, Operation, Comm>(Calls::scan) &&
         takes_two_buffers<lasts, Operation, Comm>(Calls::exscan) &&
         takes_two_buffers<lasts, Operation, Comm>(Calls::reduce_scatter) &&
         takes_two_buffers<lasts, Counts, Operation, Comm>(Calls::reduce_scatter) &&
         takes_two_buffers<lasts, Comm>(Calls::allgather) && takes_two_buffers<lasts, Rank, Comm>(Calls::gather) &&
         takes_two_buffers<lasts, Rank, Comm>(Calls::scatter) && takes_two_buffers<lasts, Comm>(Calls::alltoall) &&
         takes_two_buffers<lasts, Counts, Comm>(Calls::allgatherv) &&
         takes_two_buffers<lasts, Counts, Rank, Comm>(Calls::gatherv) &&
         takes_two_buffers<lasts, Counts, Rank, Comm>(Calls::scatterv) &&
         takes_two_buffers<lasts, Counts, Comm>(Calls::alltoallv);
}
static_assert(takes_buffers<false>(Blocking{}));
static_assert(takes_buffers<true>(Async{}));
static_assert(takes_buffers<true>(Planned{}));

template <class Calls>
constexpr bool takes_buffers_in_place(Calls /*calls*/) {
  using Operation = const Op&;
  return takes_an_output<Operation, Comm>(Calls::allreduce) && takes_an_output<Operation, Rank, Comm>(Calls::reduce) &&
         takes_an_output<Operation, Comm>(Calls::scan) && takes_an_output<Operation, Comm>(Calls::exscan) &&
         takes_an_output<Rank, Comm>(Calls::broadcast) && takes_an_output<Comm>(Calls::allgather) &&
         takes_an_output<Comm>(Calls::alltoall) && takes_an_output<Rank, Comm>(Calls::recv);
}
static_assert(takes_buffers_in_place(Blocking{}));
static_assert(takes_buffers_in_place(Async{}));
static_assert(takes_buffers_in_place(Planned{}));

template <bool lasts, class Calls>
constexpr bool sends_buffers(Calls /*calls*/) {
  using Send = decltype(Calls::send);
  using Exchange = decltype(Calls::sendrecv);
  return takes<Send, const Vector&, Rank, Comm> && takes<Send, const double&, Rank, Comm> &&
         takes<Send, ConstView, Rank, Comm> && takes<Send, const std::string&, Rank, Comm> &&
         takes<Send, Vector, Rank, Comm> != lasts && takes<Send, double, Rank, Comm> != lasts &&
         takes<Exchange, const Vector&, Rank, double&, Rank, Comm> &&
         takes<Exchange, Vector, Rank, Vector&, Rank, Comm> != lasts &&
         !takes<Exchange, Vector&, Rank, Vector, Rank, Comm> &&
         !takes<Exchange, Vector&, Rank, std::vector<float>&, Rank, Comm>;
}
static_assert(sends_buffers<false>(Blocking{}));
static_assert(sends_buffers<true>(Async{}));
static_assert(sends_buffers<true>(Planned{}));

constexpr auto batch_send =
    [](auto&& data) -> decltype(std::declval<Batch&>().send(std::forward<decltype(data)>(data), Rank{})) {};
constexpr auto batch_recv =
    [](auto&& data) -> decltype(std::declval<Batch&>().recv(std::forward<decltype(data)>(data), Rank{})) {};
static_assert(takes<decltype(batch_send), const Vector&> && takes<decltype(batch_send), const double&>);
static_assert(!takes<decltype(batch_send), Vector> && !takes<decltype(batch_send), double>, "a batch is run later");
static_assert(takes_an_output(batch_recv));

}  // namespace
}  // namespace tutti::test
