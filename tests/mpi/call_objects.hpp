#pragma once
// The calls on buffers as objects, so that tests can ask which arguments they take. `Blocking`, `Async` and `Planned`
// each have one object for each call, of the call's name.

#include <utility>

#include "tutti/tutti.hpp"

namespace tutti::test {

struct Blocking {
  static constexpr auto allreduce =
      [](auto&&... given) -> decltype(tutti::allreduce(std::forward<decltype(given)>(given)...)) {
    return tutti::allreduce(std::forward<decltype(given)>(given)...);
  };
  static constexpr auto reduce =
      [](auto&&... given) -> decltype(tutti::reduce(std::forward<decltype(given)>(given)...)) {
    return tutti::reduce(std::forward<decltype(given)>(given)...);
  };
  static constexpr auto broadcast =
      [](auto&&... given) -> decltype(tutti::broadcast(std::forward<decltype(given)>(given)...)) {
    return tutti::broadcast(std::forward<decltype(given)>(given)...);
  };
  static constexpr auto scan = [](auto&&... given) -> decltype(tutti::scan(std::forward<decltype(given)>(given)...)) {
    return tutti::scan(std::forward<decltype(given)>(given)...);
  };
  static constexpr auto exscan =
      [](auto&&... given) -> decltype(tutti::exscan(std::forward<decltype(given)>(given)...)) {
    return tutti::exscan(std::forward<decltype(given)>(given)...);
  };
  static constexpr auto reduce_scatter =
      [](auto&&... given) -> decltype(tutti::reduce_scatter(std::forward<decltype(given)>(given)...)) {
    return tutti::reduce_scatter(std::forward<decltype(given)>(given)...);
  };
  static constexpr auto allgather =
      [](auto&&... given) -> decltype(tutti::allgather(std::forward<decltype(given)>(given)...)) {
    return tutti::allgather(std::forward<decltype(given)>(given)...);
  };
  static constexpr auto gather =
      [](auto&&... given) -> decltype(tutti::gather(std::forward<decltype(given)>(given)...)) {
    return tutti::gather(std::forward<decltype(given)>(given)...);
  };
  static constexpr auto scatter =
      [](auto&&... given) -> decltype(tutti::scatter(std::forward<decltype(given)>(given)...)) {
    return tutti::scatter(std::forward<decltype(given)>(given)...);
  };
  static constexpr auto alltoall =
      [](auto&&... given) -> decltype(tutti::alltoall(std::forward<decltype(given)>(given)...)) {
    return tutti::alltoall(std::forward<decltype(given)>(given)...);
  };
  static constexpr auto allgatherv =
      [](auto&&... given) -> decltype(tutti::allgatherv(std::forward<decltype(given)>(given)...)) {
    return tutti::allgatherv(std::forward<decltype(given)>(given)...);
  };
  static constexpr auto gatherv =
      [](auto&&... given) -> decltype(tutti::gatherv(std::forward<decltype(given)>(given)...)) {
    return tutti::gatherv(std::forward<decltype(given)>(given)...);
  };
  static constexpr auto send = [](auto&&... given) -> decltype(tutti::send(std::forward<decltype(given)>(given)...)) {
    return tutti::send(std::forward<decltype(given)>(given)...);
  };
  static constexpr auto recv = [](auto&&... given) -> decltype(tutti::recv(std::forward<decltype(given)>(given)...)) {
    return tutti::recv(std::forward<decltype(given)>(given)...);
  };
  static constexpr auto sendrecv =
      [](auto&&... given) -> decltype(tutti::sendrecv(std::forward<decltype(given)>(given)...)) {
    return tutti::sendrecv(std::forward<decltype(given)>(given)...);
  };
  static constexpr auto scatterv = [](auto&& in, auto&& out, const auto& counts, auto&&... rest)
      -> decltype(tutti::scatterv(std::forward<decltype(in)>(in), counts, std::forward<decltype(out)>(out), rest...)) {
    return tutti::scatterv(std::forward<decltype(in)>(in), counts, std::forward<decltype(out)>(out), rest...);
  };
  static constexpr auto alltoallv =
      [](auto&& in, auto&& out, const auto& counts,
         auto&&... rest) -> decltype(tutti::alltoallv(std::forward<decltype(in)>(in), counts,
                                                      std::forward<decltype(out)>(out), counts, rest...)) {
    return tutti::alltoallv(std::forward<decltype(in)>(in), counts, std::forward<decltype(out)>(out), counts, rest...);
  };
};
struct Async {
  static constexpr auto allreduce =
      [](auto&&... given) -> decltype(tutti::allreduce_async(std::forward<decltype(given)>(given)...)) {
    return tutti::allreduce_async(std::forward<decltype(given)>(given)...);
  };
  static constexpr auto reduce =
      [](auto&&... given) -> decltype(tutti::reduce_async(std::forward<decltype(given)>(given)...)) {
    return tutti::reduce_async(std::forward<decltype(given)>(given)...);
  };
  static constexpr auto broadcast =
      [](auto&&... given) -> decltype(tutti::broadcast_async(std::forward<decltype(given)>(given)...)) {
    return tutti::broadcast_async(std::forward<decltype(given)>(given)...);
  };
  static constexpr auto scan =
      [](auto&&... given) -> decltype(tutti::scan_async(std::forward<decltype(given)>(given)...)) {
    return tutti::scan_async(std::forward<decltype(given)>(given)...);
  };
  static constexpr auto exscan =
      [](auto&&... given) -> decltype(tutti::exscan_async(std::forward<decltype(given)>(given)...)) {
    return tutti::exscan_async(std::forward<decltype(given)>(given)...);
  };
  static constexpr auto reduce_scatter =
      [](auto&&... given) -> decltype(tutti::reduce_scatter_async(std::forward<decltype(given)>(given)...)) {
    return tutti::reduce_scatter_async(std::forward<decltype(given)>(given)...);
  };
  static constexpr auto allgather =
      [](auto&&... given) -> decltype(tutti::allgather_async(std::forward<decltype(given)>(given)...)) {
    return tutti::allgather_async(std::forward<decltype(given)>(given)...);
  };
  static constexpr auto gather =
      [](auto&&... given) -> decltype(tutti::gather_async(std::forward<decltype(given)>(given)...)) {
    return tutti::gather_async(std::forward<decltype(given)>(given)...);
  };
  static constexpr auto scatter =
      [](auto&&... given) -> decltype(tutti::scatter_async(std::forward<decltype(given)>(given)...)) {
    return tutti::scatter_async(std::forward<decltype(given)>(given)...);
  };
  static constexpr auto alltoall =
      [](auto&&... given) -> decltype(tutti::alltoall_async(std::forward<decltype(given)>(given)...)) {
    return tutti::alltoall_async(std::forward<decltype(given)>(given)...);
  };
  static constexpr auto allgatherv =
      [](auto&&... given) -> decltype(tutti::allgatherv_async(std::forward<decltype(given)>(given)...)) {
    return tutti::allgatherv_async(std::forward<decltype(given)>(given)...);
  };
  static constexpr auto gatherv =
      [](auto&&... given) -> decltype(tutti::gatherv_async(std::forward<decltype(given)>(given)...)) {
    return tutti::gatherv_async(std::forward<decltype(given)>(given)...);
  };
  static constexpr auto send =
      [](auto&&... given) -> decltype(tutti::send_async(std::forward<decltype(given)>(given)...)) {
    return tutti::send_async(std::forward<decltype(given)>(given)...);
  };
  static constexpr auto recv =
      [](auto&&... given) -> decltype(tutti::recv_async(std::forward<decltype(given)>(given)...)) {
    return tutti::recv_async(std::forward<decltype(given)>(given)...);
  };
  static constexpr auto sendrecv =
      [](auto&&... given) -> decltype(tutti::sendrecv_async(std::forward<decltype(given)>(given)...)) {
    return tutti::sendrecv_async(std::forward<decltype(given)>(given)...);
  };
  static constexpr auto scatterv =
      [](auto&& in, auto&& out, const auto& counts,
         auto&&... rest) -> decltype(tutti::scatterv_async(std::forward<decltype(in)>(in), counts,
                                                           std::forward<decltype(out)>(out), rest...)) {
    return tutti::scatterv_async(std::forward<decltype(in)>(in), counts, std::forward<decltype(out)>(out), rest...);
  };
  static constexpr auto alltoallv =
      [](auto&& in, auto&& out, const auto& counts,
         auto&&... rest) -> decltype(tutti::alltoallv_async(std::forward<decltype(in)>(in), counts,
                                                            std::forward<decltype(out)>(out), counts, rest...)) {
    return tutti::alltoallv_async(std::forward<decltype(in)>(in), counts, std::forward<decltype(out)>(out), counts,
                                  rest...);
  };
};
struct Planned {
  static constexpr auto allreduce =
      [](auto&&... given) -> decltype(tutti::plan_allreduce(std::forward<decltype(given)>(given)...)) {
    return tutti::plan_allreduce(std::forward<decltype(given)>(given)...);
  };
  static constexpr auto reduce =
      [](auto&&... given) -> decltype(tutti::plan_reduce(std::forward<decltype(given)>(given)...)) {
    return tutti::plan_reduce(std::forward<decltype(given)>(given)...);
  };
  static constexpr auto broadcast =
      [](auto&&... given) -> decltype(tutti::plan_broadcast(std::forward<decltype(given)>(given)...)) {
    return tutti::plan_broadcast(std::forward<decltype(given)>(given)...);
  };
  static constexpr auto scan =
      [](auto&&... given) -> decltype(tutti::plan_scan(std::forward<decltype(given)>(given)...)) {
    return tutti::plan_scan(std::forward<decltype(given)>(given)...);
  };
  static constexpr auto exscan =
      [](auto&&... given) -> decltype(tutti::plan_exscan(std::forward<decltype(given)>(given)...)) {
    return tutti::plan_exscan(std::forward<decltype(given)>(given)...);
  };
  static constexpr auto reduce_scatter =
      [](auto&&... given) -> decltype(tutti::plan_reduce_scatter(std::forward<decltype(given)>(given)...)) {
    return tutti::plan_reduce_scatter(std::forward<decltype(given)>(given)...);
  };
  static constexpr auto allgather =
      [](auto&&... given) -> decltype(tutti::plan_allgather(std::forward<decltype(given)>(given)...)) {
    return tutti::plan_allgather(std::forward<decltype(given)>(given)...);
  };
  static constexpr auto gather =
      [](auto&&... given) -> decltype(tutti::plan_gather(std::forward<decltype(given)>(given)...)) {
    return tutti::plan_gather(std::forward<decltype(given)>(given)...);
  };
  static constexpr auto scatter =
      [](auto&&... given) -> decltype(tutti::plan_scatter(std::forward<decltype(given)>(given)...)) {
    return tutti::plan_scatter(std::forward<decltype(given)>(given)...);
  };
  static constexpr auto alltoall =
      [](auto&&... given) -> decltype(tutti::plan_alltoall(std::forward<decltype(given)>(given)...)) {
    return tutti::plan_alltoall(std::forward<decltype(given)>(given)...);
  };
  static constexpr auto allgatherv =
      [](auto&&... given) -> decltype(tutti::plan_allgatherv(std::forward<decltype(given)>(given)...)) {
    return tutti::plan_allgatherv(std::forward<decltype(given)>(given)...);
  };
  static constexpr auto gatherv =
      [](auto&&... given) -> decltype(tutti::plan_gatherv(std::forward<decltype(given)>(given)...)) {
    return tutti::plan_gatherv(std::forward<decltype(given)>(given)...);
  };
  static constexpr auto send =
      [](auto&&... given) -> decltype(tutti::plan_send(std::forward<decltype(given)>(given)...)) {
    return tutti::plan_send(std::forward<decltype(given)>(given)...);
  };
  static constexpr auto recv =
      [](auto&&... given) -> decltype(tutti::plan_recv(std::forward<decltype(given)>(given)...)) {
    return tutti::plan_recv(std::forward<decltype(given)>(given)...);
  };
  static constexpr auto sendrecv =
      [](auto&&... given) -> decltype(tutti::plan_sendrecv(std::forward<decltype(given)>(given)...)) {
    return tutti::plan_sendrecv(std::forward<decltype(given)>(given)...);
  };
  static constexpr auto scatterv =
      [](auto&& in, auto&& out, const auto& counts,
         auto&&... rest) -> decltype(tutti::plan_scatterv(std::forward<decltype(in)>(in), counts,
                                                          std::forward<decltype(out)>(out), rest...)) {
    return tutti::plan_scatterv(std::forward<decltype(in)>(in), counts, std::forward<decltype(out)>(out), rest...);
  };
  static constexpr auto alltoallv =
      [](auto&& in, auto&& out, const auto& counts,
         auto&&... rest) -> decltype(tutti::plan_alltoallv(std::forward<decltype(in)>(in), counts,
                                                           std::forward<decltype(out)>(out), counts, rest...)) {
    return tutti::plan_alltoallv(std::forward<decltype(in)>(in), counts, std::forward<decltype(out)>(out), counts,
                                 rest...);
  };
};

}  // namespace tutti::test
