// MSCCL's XML, read by pugixml, which looks into no DOCTYPE and knows no entities but those of XML itself.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <pugixml.hpp>
#include <set>
#include <utility>

#include "apps/options.hpp"
#include "apps/tutti/msccl.hpp"
#include "lib/core/schedule/near_names.hpp"

namespace tutti::tool {
namespace {

using Type = MscclStep::Type;

/// Of texts that users wrote, the beginning.
std::string cut(std::string_view text) { return std::string{text.substr(0, 40)}; }

std::string allowed(std::string_view given, const std::vector<std::string>& names) {
  return fmt::format("allowed: {}{}", fmt::join(names, ", "), suggestion(cut(given), names));
}

class MscclReader {
 public:
  MscclReader(std::string_view text, std::string_view path) : text_(text) {
    algorithm_.path = path;
    for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1))
      line_ends_.push_back(at);
  }

  MscclAlgorithm read() && {
    if (text_.size() > longest_msccl_file) fail(0, fmt::format("the file has more than {} bytes", longest_msccl_file));
    pugi::xml_document document;
    const pugi::xml_parse_result result = document.load_buffer(text_.data(), text_.size(), pugi::parse_escapes);
    if (!result) fail(result.offset, fmt::format("no XML: {}", result.description()));
    const pugi::xml_node root = document.document_element();
    if (root.name() != std::string_view{"algo"})
      fail(root.offset_debug(), fmt::format("the element is '{}'; allowed: algo", cut(root.name())));
    if (root.next_sibling()) fail(root.next_sibling().offset_debug(), "something stands behind </algo>");
    read_algorithm(root);
    return std::move(algorithm_);
  }

 private:
  void read_algorithm(pugi::xml_node root) {
    read_collective(root);
    algorithm_.name = text_of(root, "name").substr(0, 200);
    algorithm_.chunks = number(root, "nchunksperloop", 1, most_chunks);
    algorithm_.channels = static_cast<int>(number(root, "nchannels", 1, 1024));
    gpus_ = static_cast<int>(number(root, "ngpus", 1, most_ranks_in_file));
    algorithm_.is_in_place = number(root, "inplace", 0, 1) == 1;
    constexpr std::int64_t largest = std::int64_t{1} << 50;
    if (root.attribute("minBytes")) algorithm_.least_bytes = number(root, "minBytes", 0, largest);
    if (root.attribute("maxBytes")) algorithm_.most_bytes = number(root, "maxBytes", 0, largest);
    if (algorithm_.most_bytes == 0) algorithm_.most_bytes = std::numeric_limits<std::int64_t>::max();
    if (algorithm_.least_bytes > algorithm_.most_bytes) fail(root.offset_debug(), "minBytes is more than maxBytes");
    const std::vector<pugi::xml_node> nodes = numbered(root, "gpu", "id");
    if (nodes.size() != static_cast<std::size_t>(gpus_))
      fail(root.offset_debug(), fmt::format("there are {} elements 'gpu'; ngpus is {}", nodes.size(), gpus_));
    for (const pugi::xml_node node : nodes)
      read_gpu(node);
  }

  void read_collective(pugi::xml_node root) {
    std::string given = text_of(root, "coll");
    if (given == "reducescatter") given = "reduce_scatter";
    std::vector<std::string> names;
    for (int i = 0; i < collective_count; ++i)
      if (const std::string_view name = msccl_name(static_cast<Collective>(i)); !name.empty()) names.emplace_back(name);
    if (std::ranges::count(names, given) == 0)
      fail(root.offset_debug(), fmt::format("coll is '{}'; {}", cut(given), allowed(given, names)));
    algorithm_.collective = *find_collective(given);
  }

  void read_gpu(pugi::xml_node node) {
    gpu_ = static_cast<int>(algorithm_.gpus.size());
    MscclGpu& gpu = algorithm_.gpus.emplace_back();
    gpu.input = number(node, "i_chunks", 0, most_chunks);
    gpu.output = number(node, "o_chunks", 0, most_chunks);
    gpu.scratch = number(node, "s_chunks", 0, most_chunks);
    const std::vector<pugi::xml_node> blocks = numbered(node, "tb", "id");
    std::set<std::pair<int, int>> senders, receivers;
    for (const pugi::xml_node each : blocks) {
      block_ = static_cast<int>(gpu.blocks.size());
      MscclBlock& block = gpu.blocks.emplace_back(read_block(each));
      const bool is_alone = (block.send < 0 || senders.insert({block.send, block.channel}).second) &&
                            (block.recv < 0 || receivers.insert({block.recv, block.channel}).second);
      if (!is_alone) fail(each.offset_debug(), "another threadblock has the same peer and channel");
    }
    require_awaited(gpu);
    block_ = gpu_ = -1;
  }

  MscclBlock read_block(pugi::xml_node node) {
    MscclBlock block;
    block.line = line_of(node.offset_debug());
    const auto peer = [&](const char* name) {
      const int rank = static_cast<int>(number(node, name, -1, gpus_ - 1));
      if (rank == gpu_) fail(node.offset_debug(), fmt::format("{} is the GPU itself", name));
      return rank;
    };
    block.send = peer("send");
    block.recv = peer("recv");
    block.channel = static_cast<int>(number(node, "chan", 0, algorithm_.channels - 1));
    for (const pugi::xml_node each : numbered(node, "step", "s")) {
      step_ = static_cast<int>(block.steps.size());
      block.steps.push_back(read_step(each, block));
    }
    step_ = -1;
    return block;
  }

  MscclStep read_step(pugi::xml_node node, const MscclBlock& block) {
    if (++steps_ > most_msccl_steps) fail(node.offset_debug(), fmt::format("more than {} steps", most_msccl_steps));
    MscclStep step;
    step.line = line_of(node.offset_debug());
    step.type = type_of(node);
    step.after_block = static_cast<int>(number(node, "depid", -1, most_msccl_steps));
    step.after_step = static_cast<int>(number(node, "deps", -1, most_msccl_steps));
    if (step.type == Type::nop) return step;
    const Count count{number(node, "cnt", 1, most_chunks)};
    chunks_ += count.value();
    if (chunks_ > most_msccl_chunks)
      fail(node.offset_debug(), fmt::format("the steps touch more than {} chunks", most_msccl_chunks));
    const bool reads = step.type != Type::recv && step.type != Type::recv_copy_send;
    const bool writes = step.type != Type::send && step.type != Type::recv_reduce_send;
    if (reads) step.src = region(node, "srcbuf", "srcoff", count);
    if (writes) step.dst = region(node, "dstbuf", "dstoff", count);
    if (sends(step.type) && block.send < 0)
      fail(node.offset_debug(), "sends, but its threadblock has no peer to send to");
    if (receives(step.type) && block.recv < 0)
      fail(node.offset_debug(), "receives, but its threadblock has no peer to receive from");
    return step;
  }

  [[nodiscard]] Type type_of(pugi::xml_node node) const {
    const std::string given = text_of(node, "type");
    std::vector<std::string> names;
    for (int type = 0; type <= static_cast<int>(Type::reduce); ++type)
      names.emplace_back(to_string(static_cast<Type>(type)));
    const auto found = std::ranges::find(names, given);
    if (found == names.end())
      fail(node.offset_debug(), fmt::format("type is '{}'; {}", cut(given), allowed(given, names)));
    return static_cast<Type>(found - names.begin());
  }

  [[nodiscard]] Region region(pugi::xml_node node, const char* buffer, const char* offset, Count count) const {
    const std::string given = text_of(node, buffer);
    const std::size_t place = given.size() == 1 ? std::string_view{"ios"}.find(given) : std::string_view::npos;
    if (place == std::string_view::npos)
      fail(node.offset_debug(), fmt::format("{} is '{}'; allowed: i, o, s", buffer, cut(given)));
    return {static_cast<Buffer>(place), Count{number(node, offset, 0, most_chunks)}, count};
  }

  /// Steps may wait for steps of threadblocks that come later in the file.
  void require_awaited(MscclGpu& gpu) {
    for (block_ = 0; block_ < static_cast<int>(gpu.blocks.size()); ++block_)
      for (step_ = 0; MscclStep & step : gpu.blocks[static_cast<std::size_t>(block_)].steps) {
        if (step.after_block >= 0) {
          const auto other = static_cast<std::size_t>(step.after_block);
          const bool exists = other < gpu.blocks.size() && step.after_step >= 0 &&
                              static_cast<std::size_t>(step.after_step) < gpu.blocks[other].steps.size();
          if (!exists)
            fail_at(step.line,
                    fmt::format("waits for tb {}, step {}, which does not exist", step.after_block, step.after_step));
          gpu.blocks[other].steps[static_cast<std::size_t>(step.after_step)].is_awaited = true;
        }
        ++step_;
      }
    step_ = -1;
  }

  /// The elements inside a node, by their number: each number up to theirs, once.
  [[nodiscard]] std::vector<pugi::xml_node> numbered(pugi::xml_node node, std::string_view name, const char* id) const {
    std::vector<pugi::xml_node> nodes;
    for (const pugi::xml_node each : node.children()) {
      if (each.name() != name)
        fail(each.offset_debug(), fmt::format("'{}' inside '{}'; allowed: {}", cut(each.name()), node.name(), name));
      nodes.push_back(each);
    }
    std::vector<pugi::xml_node> sorted(nodes.size());
    for (const pugi::xml_node each : nodes) {
      pugi::xml_node& place = sorted[static_cast<std::size_t>(number(each, id, 0, std::ssize(nodes) - 1))];
      if (place) fail(each.offset_debug(), fmt::format("{} {} comes twice", name, each.attribute(id).value()));
      place = each;
    }
    return sorted;
  }

  [[nodiscard]] std::string text_of(pugi::xml_node node, const char* name) const {
    const pugi::xml_attribute attribute = node.attribute(name);
    if (!attribute) fail(node.offset_debug(), fmt::format("'{}' has no attribute '{}'", node.name(), name));
    return attribute.value();
  }
  [[nodiscard]] std::int64_t number(pugi::xml_node node, const char* name, std::int64_t least,
                                    std::int64_t most) const {
    const std::string text = text_of(node, name);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most)
      fail(node.offset_debug(), fmt::format("{} is '{}'; allowed: {} to {}", name, cut(text), least, most));
    return value;
  }

  [[nodiscard]] int line_of(std::ptrdiff_t offset) const {
    const auto at = static_cast<std::size_t>(std::max<std::ptrdiff_t>(offset, 0));
    return 1 + static_cast<int>(std::ranges::lower_bound(line_ends_, at) - line_ends_.begin());
  }
  [[noreturn]] void fail(std::ptrdiff_t offset, const std::string& why) const { fail_at(line_of(offset), why); }
  [[noreturn]] void fail_at(int line, const std::string& why) const {
    std::string place;
    for (const auto& [name, id] : {std::pair{"gpu", gpu_}, std::pair{"tb", block_}, std::pair{"step", step_}})
      if (id >= 0) place += fmt::format("{}{} {}", place.empty() ? "" : ", ", name, id);
    throw apps::InputError(fmt::format("{}:{}: {}{}{}", algorithm_.path, line, place, place.empty() ? "" : ": ", why));
  }

  std::string_view text_;
  MscclAlgorithm algorithm_{};
  int gpus_ = 0, gpu_ = -1, block_ = -1, step_ = -1;  ///< Where the reader is.
  std::int64_t steps_ = 0, chunks_ = 0;
  std::vector<std::size_t> line_ends_{};
};

}  // namespace

MscclAlgorithm read_msccl(std::string_view text, std::string_view path) { return MscclReader{text, path}.read(); }

}  // namespace tutti::tool
