// The words of MSCCL's XML, and the XML of an algorithm.
#include <fmt/format.h>

#include <array>
#include <iterator>

#include "apps/json.hpp"
#include "apps/tutti/msccl.hpp"

namespace tutti::tool {
namespace {

constexpr std::array<std::string_view, 9> type_names{"nop", "s", "r", "rcs", "rrs", "rrc", "rrcs", "cpy", "re"};

void append(std::string& text, int number, const MscclStep& step) {
  constexpr std::string_view buffers[] = {"i", "o", "s"};
  const auto name = [&](const Region& region) { return buffers[static_cast<std::size_t>(region.buffer)]; };
  const bool is_nop = step.type == MscclStep::Type::nop;
  fmt::format_to(std::back_inserter(text),
                 "      <step s=\"{}\" type=\"{}\" srcbuf=\"{}\" srcoff=\"{}\" dstbuf=\"{}\" dstoff=\"{}\" cnt=\"{}\" "
                 "depid=\"{}\" deps=\"{}\" hasdep=\"{}\"/>\n",
                 number, to_string(step.type), name(step.src), is_nop ? -1 : step.src.offset.value(), name(step.dst),
                 is_nop ? -1 : step.dst.offset.value(), step.src.count.value(), step.after_block, step.after_step,
                 step.is_awaited ? 1 : 0);
}

void append(std::string& text, int id, const MscclGpu& gpu) {
  fmt::format_to(std::back_inserter(text), "  <gpu id=\"{}\" i_chunks=\"{}\" o_chunks=\"{}\" s_chunks=\"{}\">\n", id,
                 gpu.input, gpu.output, gpu.scratch);
  for (int number = 0; const MscclBlock& block : gpu.blocks) {
    fmt::format_to(std::back_inserter(text), "    <tb id=\"{}\" send=\"{}\" recv=\"{}\" chan=\"{}\">\n", number++,
                   block.send, block.recv, block.channel);
    for (int step = 0; const MscclStep& each : block.steps)
      append(text, step++, each);
    text += "    </tb>\n";
  }
  text += "  </gpu>\n";
}

}  // namespace

std::string_view to_string(MscclStep::Type type) { return type_names[static_cast<std::size_t>(type)]; }

bool receives(MscclStep::Type type) {
  using enum MscclStep::Type;
  return type >= recv && type <= recv_reduce_copy_send;
}

bool sends(MscclStep::Type type) {
  using enum MscclStep::Type;
  return type == send || type == recv_copy_send || type == recv_reduce_send || type == recv_reduce_copy_send;
}

std::string_view msccl_name(Collective collective) {
  switch (collective) {
    case Collective::broadcast:
    case Collective::reduce:
    case Collective::allreduce:
    case Collective::reduce_scatter:
    case Collective::allgather:
    case Collective::gather:
    case Collective::scatter:
    case Collective::alltoall:
      return to_string(collective);
    default:
      return "";
  }
}

std::string to_xml(const MscclAlgorithm& algorithm) {
  std::string text = fmt::format(
      "<algo name=\"{}\" proto=\"Simple\" nchannels=\"{}\" nchunksperloop=\"{}\" ngpus=\"{}\" coll=\"{}\" "
      "inplace=\"{}\" outofplace=\"{}\"",
      apps::xml_escaped(algorithm.name), algorithm.channels, algorithm.chunks, algorithm.gpus.size(),
      msccl_name(algorithm.collective), algorithm.is_in_place ? 1 : 0, algorithm.is_in_place ? 0 : 1);
  if (algorithm.least_bytes > 0) text += fmt::format(" minBytes=\"{}\"", algorithm.least_bytes);
  if (algorithm.most_bytes < std::numeric_limits<std::int64_t>::max())
    text += fmt::format(" maxBytes=\"{}\"", algorithm.most_bytes);
  text += ">\n";
  for (int id = 0; const MscclGpu& gpu : algorithm.gpus)
    append(text, id++, gpu);
  return text + "</algo>\n";
}

}  // namespace tutti::tool
