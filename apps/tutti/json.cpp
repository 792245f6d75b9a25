// tutti show --format json: the complete schedules, for other programs.
#include "apps/json.hpp"

#include <algorithm>

#include "apps/tutti/scene.hpp"
#include "lib/proof/cost/catalogue.hpp"
#include "tutti/version.hpp"

namespace tutti::tool {
namespace {

using apps::Json;

std::string_view name(Buffer buffer) {
  constexpr std::string_view names[] = {"input", "output", "scratch"};
  return names[static_cast<std::size_t>(buffer)];
}

Json json_of(const Region& region) {
  return {{"buffer", name(region.buffer)}, {"offset", region.offset.value()}, {"count", region.count.value()}};
}

Json json_of(const Regions& regions) {
  Json list = Json::array();
  for (const Region& region : regions)
    list.push_back(json_of(region));
  return list;
}

struct Describe {
  Json operator()(const Send& send) const {
    return {{"action", "send"}, {"to", send.to.value()}, {"message", send.message}, {"from", json_of(send.from)}};
  }
  Json operator()(const Recv& recv) const {
    Json json{{"action", "recv"}, {"from", recv.from.value()}, {"message", recv.message}, {"into", json_of(recv.into)}};
    if (recv.then) json.set("then", (*this)(*recv.then));
    return json;
  }
  Json operator()(const Reduce& reduce) const {
    return {{"action", "reduce"},
            {"lhs", json_of(reduce.lhs)},
            {"rhs", json_of(reduce.rhs)},
            {"into", json_of(reduce.into)}};
  }
  Json operator()(const Copy& copy) const {
    return {{"action", "copy"}, {"from", json_of(copy.from)}, {"into", json_of(copy.into)}};
  }
};

Json json_of(const checker::RankSchedule& own, int rank) {
  Json steps = Json::array();
  for (const auto& [action, after] : own.schedule.steps) {
    Json step = std::visit(Describe{}, action);
    step.set("after", after);
    steps.push_back(std::move(step));
  }
  Json json{{"rank", rank},
            {"input", own.input.value()},
            {"output", own.output.value()},
            {"scratch", own.schedule.scratch.value()}};
  if (const auto offset = own.aliasing.offset()) json.set("input_at_output", offset->value());
  json.set("steps", std::move(steps));
  return json;
}

/// A place without a step is the rank.
Json json_of(const checker::Verdict& verdict) {
  Json places = Json::array();
  for (const checker::Fault::Position& position : verdict.positions) {
    Json each{{"rank", position.rank.value()}};
    if (position.step != checker::Fault::Position::whole_rank) each.set("step", position.step);
    places.push_back(std::move(each));
  }
  return {{"text", verdict.fault}, {"places", std::move(places)}};
}

Json json_of(const Cost& cost) {
  return {{"messages", cost.messages},       {"rounds", cost.rounds},         {"sent", cost.sent.value()},
          {"reduced", cost.reduced.value()}, {"copied", cost.copied.value()}, {"scratch", cost.scratch.value()}};
}

/// How many ranks each node has. They follow each other.
std::vector<int> ranks_of_nodes(const std::vector<int>& nodes) {
  std::vector<int> ranks;
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
    if (rank == 0 || nodes[rank] != nodes[rank - 1]) ranks.push_back(0);
    ++ranks.back();
  }
  return ranks;
}

}  // namespace

std::string to_json(const Scene& scene, int rank) {
  constexpr int indent = 1;
  const Algorithm& algorithm = *scene.choice.algorithm;
  Json json{{"tutti_schedule", schedule_version},
            {"tutti", TUTTI_VERSION},
            {"collective", to_string(algorithm.collective)},
            {"algorithm", algorithm.name}};
  if (!algorithm.summary.empty()) json.set("title", algorithm.summary);
  if (!algorithm.source.empty()) json.set("source", algorithm.source);
  if (!algorithm.parameter.name.empty())
    json.set("parameter", {{"name", algorithm.parameter.name}, {"value", scene.choice.parameter}});
  if (scene.what.segment > Count{0}) json.set("segment", scene.what.segment.value());
  json.set("size", scene.what.size);
  json.set("chunks", std::max<std::int64_t>(scene.what.count.value(), 1));  // of one element each
  if (has_root(algorithm.collective)) json.set("root", scene.what.root.value());
  Json needs{{"commutative", reduces(algorithm.collective) && order_on(scene.what.nodes, algorithm) == Order::any},
             {"in_place", scene.what.placement == checker::Placement::in_place}};
  if (!scene.what.nodes.empty()) needs.set("nodes", ranks_of_nodes(scene.what.nodes));
  json.set("requires", std::move(needs));
  const bool has_end = scene.most_bytes < std::numeric_limits<std::int64_t>::max();
  if (scene.least_bytes > 0 || has_end) {
    Json bytes = Json::array();
    bytes.push_back(scene.least_bytes);
    bytes.push_back(has_end ? Json(scene.most_bytes) : Json());
    json.set("bytes", std::move(bytes));
  }
  if (const Bits bits = algorithm.bits; bits != Bits::same)
    json.set("bits", bits_names[static_cast<std::size_t>(bits)]);
  json.set("fused", scene.what.is_fused);
  if (scene.verdict.proved())
    json.set("cost", json_of(scene.cost));
  else
    json.set("fault", json_of(scene.verdict));
  Json ranks = Json::array();
  for (int each = 0; each < scene.what.size; ++each)
    if (rank < 0 || rank == each) ranks.push_back(json_of(scene.schedule_of(each), each));
  json.set("ranks", std::move(ranks));
  return json.text(indent);
}

}  // namespace tutti::tool
