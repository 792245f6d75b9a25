// The algorithms of other libraries, by their names, and what they are here.
#include <algorithm>
#include <array>

#include "apps/tutti/import.hpp"

namespace tutti::tool {
namespace {

using enum Collective;
using enum ForeignName::Carries;
constexpr auto ompi = Library::openmpi, mpich = Library::mpich, ucc = Library::ucc, nccl = Library::nccl;

constexpr std::string_view flat = "knomial:65536";  // the root sends to, or receives from, all
constexpr std::string_view binary = "a binary tree; Tutti has two_tree, which is two of them";
constexpr std::string_view by_root = "through one rank, which Tutti has not";
constexpr std::string_view butterfly = "a butterfly with blocks out of order; the nearest is recursive_halving";
constexpr std::string_view devices = "for devices with kernels of their own, which Tutti has not";
constexpr std::string_view in_network = "reduces in the network";
constexpr std::string_view tree_reduce = "by a tree of the library's own shape; here radix k or 2";

constexpr auto names = std::to_array<ForeignName>({
    // Open MPI: coll_tuned_COLLECTIVE_algorithm. Allgatherv and its like have the collective of equal blocks.
    {ompi, allreduce, 1, "basic_linear", "reduce_broadcast:65536", "", nothing},
    {ompi, allreduce, 2, "nonoverlapping", "reduce_broadcast",
     "there with algorithms of reduce and bcast by its own choice"},
    {ompi, allreduce, 3, "recursive_doubling", "recursive_doubling", ""},
    {ompi, allreduce, 4, "ring", "ring", ""},
    {ompi, allreduce, 5, "segmented_ring", "ring", "", segment},
    {ompi, allreduce, 6, "rabenseifner", "rabenseifner", ""},
    {ompi, allreduce, 7, "allgather_reduce", "one_shot", ""},
    {ompi, broadcast, 1, "basic_linear", flat, "", segment},
    {ompi, broadcast, 2, "chain", "chain", "there several chains, here one", segment},
    {ompi, broadcast, 3, "pipeline", "chain", "", segment},
    {ompi, broadcast, 4, "split_binary_tree", "", binary},
    {ompi, broadcast, 5, "binary_tree", "", binary},
    {ompi, broadcast, 6, "binomial", "knomial", "", segment},
    {ompi, broadcast, 7, "knomial", "knomial:4", "", both},
    {ompi, broadcast, 8, "scatter_allgather", "scatter_allgather", ""},
    {ompi, broadcast, 9, "scatter_allgather_ring", "scatter_allgather", "there with a ring for the allgather"},
    {ompi, barrier, 1, "linear", "", by_root},
    {ompi, barrier, 2, "double_ring", "", "twice around a ring, which Tutti has not"},
    {ompi, barrier, 3, "recursive_doubling", "recursive_doubling", ""},
    {ompi, barrier, 4, "bruck", "dissemination", ""},
    {ompi, barrier, 5, "two_proc", "dissemination", ""},
    {ompi, barrier, 6, "tree", "", "up and down a tree, which Tutti has not"},
    {ompi, reduce, 1, "linear", flat, "", segment},
    {ompi, reduce, 2, "chain", "chain", "there several chains, here one", segment},
    {ompi, reduce, 3, "pipeline", "chain", "", segment},
    {ompi, reduce, 4, "binary", "", binary},
    {ompi, reduce, 5, "binomial", "knomial", "", segment},
    {ompi, reduce, 6, "in-order_binary", "", binary},
    {ompi, reduce, 7, "rabenseifner", "reduce_scatter_gather", ""},
    {ompi, reduce, 8, "knomial", "knomial:4", "", both},
    {ompi, allgather, 1, "linear", "", by_root},
    {ompi, allgather, 2, "bruck-k-fanout", "bruck", "there with a radix"},
    {ompi, allgather, 2, "bruck", "bruck", ""},
    {ompi, allgather, 3, "recursive_doubling", "recursive_doubling", ""},
    {ompi, allgather, 4, "ring", "ring", ""},
    {ompi, allgather, 5, "neighbor", "neighbour_exchange", ""},
    {ompi, allgather, 6, "two_proc", "one_shot", ""},
    {ompi, allgather, 7, "sparbit", "pat", ""},
    {ompi, allgather, 8, "direct-messaging", "one_shot", ""},
    {ompi, alltoall, 1, "linear", "linear:65536", ""},
    {ompi, alltoall, 2, "pairwise", "pairwise", ""},
    {ompi, alltoall, 3, "modified_bruck", "bruck", ""},
    {ompi, alltoall, 4, "linear_sync", "linear", "", window},
    {ompi, alltoall, 5, "two_proc", "pairwise", ""},
    {ompi, gather, 1, "basic_linear", "linear", ""},
    {ompi, gather, 2, "binomial", "binomial", ""},
    {ompi, gather, 3, "linear_sync", "linear", "there the root asks for each block"},
    {ompi, scatter, 1, "basic_linear", "linear", ""},
    {ompi, scatter, 2, "binomial", "binomial", ""},
    {ompi, scatter, 3, "linear_nb", "linear", ""},
    {ompi, reduce_scatter, 1, "non-overlapping", "", "a reduce, then a scatter, which Tutti has not"},
    {ompi, reduce_scatter, 2, "recursive_halving", "recursive_halving", ""},
    {ompi, reduce_scatter, 3, "ring", "ring", ""},
    {ompi, reduce_scatter, 4, "butterfly", "", butterfly},
    {ompi, scan, 1, "linear", "linear", ""},
    {ompi, scan, 2, "recursive_doubling", "recursive_doubling", ""},
    {ompi, exscan, 1, "linear", "linear", ""},
    {ompi, exscan, 2, "recursive_doubling", "recursive_doubling", ""},
    // MPICH: what follows MPIR_COLLECTIVE_intra_ or allcomm_, without sched_ and tsp_.
    {mpich, broadcast, -1, "binomial", "knomial", ""},
    {mpich, broadcast, -1, "smp", "two_level", "there with algorithms by its own choice"},
    {mpich, broadcast, -1, "scatter_recursive_doubling_allgather", "scatter_allgather", ""},
    {mpich, broadcast, -1, "scatter_ring_allgather", "scatter_allgather", "there with a ring for the allgather"},
    {mpich, broadcast, -1, "scatterv_recexch_allgatherv", "scatter_allgather", ""},
    {mpich, broadcast, -1, "scatterv_ring_allgatherv", "scatter_allgather", "there with a ring for the allgather"},
    {mpich, broadcast, -1, "ring", "chain", "", segment},
    {mpich, broadcast, -1, "tree", "knomial", tree_reduce, both},
    {mpich, broadcast, -1, "pipelined_tree", "knomial", tree_reduce, both},
    {mpich, allreduce, -1, "recursive_doubling", "recursive_doubling", ""},
    {mpich, allreduce, -1, "recursive_multiplying", "recursive_multiplying", "", radix},
    {mpich, allreduce, -1, "recexch", "recursive_multiplying", "", radix},
    {mpich, allreduce, -1, "reduce_scatter_allgather", "rabenseifner", ""},
    {mpich, allreduce, -1, "k_reduce_scatter_allgather", "rabenseifner", "there with a radix"},
    {mpich, allreduce, -1, "ring", "ring", ""},
    {mpich, allreduce, -1, "smp", "two_level", "there with algorithms by its own choice"},
    {mpich, allreduce, -1, "tree", "reduce_broadcast", tree_reduce, radix},
    {mpich, allreduce, -1, "ccl", "", devices},
    {mpich, reduce, -1, "binomial", "knomial", ""},
    {mpich, reduce, -1, "reduce_scatter_gather", "reduce_scatter_gather", ""},
    {mpich, reduce, -1, "smp", "two_level", "there with algorithms by its own choice"},
    {mpich, reduce, -1, "tree", "knomial", tree_reduce, both},
    {mpich, allgather, -1, "recursive_doubling", "recursive_doubling", ""},
    {mpich, allgather, -1, "recexch", "recursive_exchange", "", radix},
    {mpich, allgather, -1, "recexch_doubling", "recursive_exchange", "there the nearest ranks first", radix},
    {mpich, allgather, -1, "ring", "ring", ""},
    {mpich, allgather, -1, "brucks", "bruck", ""},
    {mpich, allgather, -1, "k_brucks", "bruck", "there with a radix"},
    {mpich, reduce_scatter, -1, "recursive_halving", "recursive_halving", ""},
    {mpich, reduce_scatter, -1, "pairwise", "one_shot", "there a block at a time"},
    {mpich, reduce_scatter, -1, "noncommutative", "",
     "for operations that do not commute, by recursive halving of its own"},
    {mpich, reduce_scatter, -1, "recursive_doubling", "", "sends all blocks in all rounds, which Tutti has not"},
    {mpich, gather, -1, "binomial", "binomial", "", radix},
    {mpich, gather, -1, "linear", "linear", ""},
    {mpich, scatter, -1, "binomial", "binomial", "", radix},
    {mpich, scatter, -1, "linear", "linear", ""},
    {mpich, scan, -1, "smp", "two_level", ""},
    {mpich, scan, -1, "recursive_doubling", "recursive_doubling", ""},
    {mpich, exscan, -1, "recursive_doubling", "recursive_doubling", ""},
    {mpich, barrier, -1, "smp", "two_level", ""},
    {mpich, barrier, -1, "k_dissemination", "dissemination", "", radix},
    {mpich, barrier, -1, "dissemination", "dissemination", ""},
    {mpich, barrier, -1, "recexch", "recursive_doubling", "there with a radix"},
    {mpich, barrier, -1, "recursive_doubling", "recursive_doubling", ""},
    {mpich, alltoall, -1, "brucks", "bruck", ""},
    {mpich, alltoall, -1, "k_brucks", "bruck", "", radix},
    {mpich, alltoall, -1, "scattered", "linear", "", window},
    {mpich, alltoall, -1, "permuted_sendrecv", "linear", ""},
    {mpich, alltoall, -1, "linear", "linear", ""},
    {mpich, alltoall, -1, "blocked", "linear", ""},
    {mpich, alltoall, -1, "pairwise", "pairwise", ""},
    {mpich, alltoall, -1, "pairwise_sendrecv_replace", "pairwise", ""},
    {mpich, alltoall, -1, "inplace", "pairwise", ""},
    // UCC: the algorithms of TL/UCP.
    {ucc, allreduce, 0, "knomial", "recursive_multiplying", "", radix},
    {ucc, allreduce, 1, "sra_knomial", "rabenseifner", "there with a radix"},
    {ucc, allreduce, 2, "dbt", "two_tree", ""},
    {ucc, allreduce, 3, "sliding_window", "", devices},
    {ucc, allreduce, -1, "ring", "ring", ""},
    {ucc, broadcast, 0, "knomial", "knomial:4", "", radix},
    {ucc, broadcast, 1, "sag_knomial", "scatter_allgather", "there with a radix"},
    {ucc, broadcast, 2, "dbt", "two_tree", ""},
    {ucc, reduce, 0, "knomial", "knomial:4", "", radix},
    {ucc, reduce, 1, "dbt", "two_tree", ""},
    {ucc, reduce, 2, "srg", "reduce_scatter_gather", ""},
    {ucc, reduce, 2, "srg_knomial", "reduce_scatter_gather", ""},
    {ucc, allgather, 0, "knomial", "recursive_exchange:4", "", radix},
    {ucc, allgather, 1, "ring", "ring", ""},
    {ucc, allgather, 2, "neighbor", "neighbour_exchange", ""},
    {ucc, allgather, 3, "bruck", "bruck", ""},
    {ucc, allgather, 4, "sparbit", "pat", ""},
    {ucc, allgather, 5, "linear", "one_shot", ""},
    {ucc, reduce_scatter, 0, "ring", "ring", ""},
    {ucc, reduce_scatter, 1, "knomial", "recursive_exchange:4", "", radix},
    {ucc, alltoall, 0, "pairwise", "pairwise", ""},
    {ucc, alltoall, 1, "bruck", "bruck", ""},
    {ucc, alltoall, 2, "onesided", "", "by remote writes"},
    {ucc, gather, 0, "knomial", "binomial:4", "", radix},
    {ucc, scatter, 0, "knomial", "binomial:4", "", radix},
    {ucc, barrier, 0, "knomial", "dissemination:4", "there by recursive multiplying", radix},
    // NCCL and NCCLX: rules of devices. Its trees are double binary ones, its protocols and channels have no like here.
    {nccl, allreduce, -1, "ring", "ring", ""},
    {nccl, allreduce, -1, "tree", "two_tree", ""},
    {nccl, allreduce, -1, "collnet_direct", "", in_network},
    {nccl, allreduce, -1, "collnet_chain", "", in_network},
    {nccl, allreduce, -1, "nvls", "", in_network},
    {nccl, allreduce, -1, "nvls_tree", "", in_network},
    {nccl, broadcast, -1, "ring", "chain", "there in chunks of its own"},
    {nccl, broadcast, -1, "tree", "", "NCCL has a tree for allreduce alone, and chooses itself"},
    {nccl, reduce, -1, "ring", "chain", "there in chunks of its own"},
    {nccl, reduce, -1, "tree", "", "NCCL has a tree for allreduce alone, and chooses itself"},
    {nccl, allgather, -1, "ring", "ring", ""},
    {nccl, allgather, -1, "pat", "pat", ""},
    {nccl, allgather, -1, "nvls", "", in_network},
    {nccl, allgather, -1, "collnet_direct", "", in_network},
    {nccl, reduce_scatter, -1, "ring", "ring", ""},
    {nccl, reduce_scatter, -1, "pat", "pat", ""},
    {nccl, reduce_scatter, -1, "nvls", "", in_network},
    {nccl, reduce_scatter, -1, "collnet_direct", "", in_network},
});

template <class Fits>
const ForeignName* first(const Fits& fits) {
  const auto* const found = std::ranges::find_if(names, fits);
  return found == names.end() ? nullptr : found;
}

}  // namespace

std::span<const ForeignName> foreign_names() { return names; }

const ForeignName* find_foreign(Library library, Collective collective, std::string_view name) {
  return first([&](const ForeignName& its) {
    return its.library == library && its.collective == collective && its.name == name;
  });
}
const ForeignName* find_foreign(Library library, Collective collective, int id) {
  return first([&](const ForeignName& its) {
    return its.library == library && its.collective == collective && its.id == id && id >= 0;
  });
}

}  // namespace tutti::tool
