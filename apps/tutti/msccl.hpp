#pragma once
// MSCCL's algorithms: what their XML says, and how they become schedules and schedules become them.
//
// A GPU is a rank. Its threadblocks run at the same time, each its own steps one after the other. A step may wait for a
// step of another threadblock of its GPU. What a threadblock sends on a channel to a GPU is received there, in order,
// by the threadblock that receives on the channel from the sender's GPU.

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "apps/tutti/scene.hpp"
#include "lib/core/files/schedule_file.hpp"

namespace tutti::tool {

inline constexpr std::size_t longest_msccl_file = std::size_t{64} << 20;
/// More is refused, as a whole file: steps, steps times threadblocks, chunks of all buffers, and chunks that all steps
/// touch.
inline constexpr std::int64_t most_msccl_steps = 1 << 20, most_msccl_clocks = 1 << 26, most_msccl_chunks = 1 << 24;

/// Regions are counted in chunks.
struct MscclStep {
  enum class Type : std::uint8_t {
    nop,                    ///< Only waits.
    send,                   ///< s
    recv,                   ///< r: into `dst`
    recv_copy_send,         ///< rcs: into `dst`, which is sent on
    recv_reduce_send,       ///< rrs: combined with `src` and sent on
    recv_reduce_copy,       ///< rrc: combined with `src`, into `dst`
    recv_reduce_copy_send,  ///< rrcs: the same, and `dst` is sent on
    copy,                   ///< cpy
    reduce,                 ///< re: `dst` is combined with `src`
  };
  Type type = Type::nop;
  Region src{}, dst{};
  int after_block = -1, after_step = -1;  ///< The step that has to be complete before; -1: none.
  bool is_awaited = false;                ///< A step of another threadblock waits for this one.
  int line = 0;                           ///< In the file; 0: none.
};
[[nodiscard]] std::string_view to_string(MscclStep::Type type);
[[nodiscard]] bool receives(MscclStep::Type type);
[[nodiscard]] bool sends(MscclStep::Type type);

struct MscclBlock {
  int send = -1, recv = -1;  ///< The GPU that it sends to, and the one that it receives from; -1: none.
  int channel = 0;
  std::vector<MscclStep> steps{};
  int line = 0;
};

struct MscclGpu {
  std::int64_t input = 0, output = 0, scratch = 0;  ///< Chunks.
  std::vector<MscclBlock> blocks{};
};

struct MscclAlgorithm {
  std::string path{}, name{};
  Collective collective = Collective::allreduce;
  std::int64_t chunks = 1;  ///< Of the larger buffer.
  int channels = 1;
  bool is_in_place = false;
  std::int64_t least_bytes = 0, most_bytes = std::numeric_limits<std::int64_t>::max();  ///< Of the larger buffer.
  std::vector<MscclGpu> gpus{};
};

/// Reads the XML. Numbers are in their ranges, and what steps wait for exists; that it comes is not certain yet. Throws
/// InputError, which begins with "PATH:LINE: " and names gpu, threadblock and step; also where Tutti was built without
/// an XML parser.
[[nodiscard]] MscclAlgorithm read_msccl(std::string_view text, std::string_view path);

/// The schedules, not proved yet. Steps wait for each other only where they touch the same chunks. Throws InputError
/// like read_msccl, where steps wait for each other in a circle, or touch the same chunk in no certain order.
[[nodiscard]] ScheduleFile schedules_of(const MscclAlgorithm& algorithm, Rank root);

/// Asks the least of calls with which the schedules are proved: any operation, else a commutative one, else that ranks
/// may get different bits. Schedules that are wrong in any case ask for a commutative one.
void settle(ScheduleFile& file);

/// The scene as an algorithm of MSCCL, a chunk as large as all regions allow. Throws InputError where MSCCL has no word
/// for it.
[[nodiscard]] MscclAlgorithm msccl_of(const Scene& scene);
[[nodiscard]] std::string to_xml(const MscclAlgorithm& algorithm);

/// MSCCL's name of a collective; empty: it has none.
[[nodiscard]] std::string_view msccl_name(Collective collective);

}  // namespace tutti::tool
