#include "apps/tutti/scene_request.hpp"

#include <fmt/format.h>

#include <utility>

namespace tutti::tool {
namespace {

constexpr int most_ranks = 256;
constexpr Count most_elements{1 << 24};  // of all ranks

void require_consistent(const SceneRequest& request, Collective collective) {
  if (request.root >= request.ranks)
    throw apps::InputError(fmt::format("--root {} is no rank: allowed: 0 to {}", request.root, request.ranks - 1));
  require_levels_of(request.ranks, request.spread);
  if (request.root != 0 && !has_root(collective))
    throw apps::InputError(fmt::format("--root: {} has no root", to_string(collective)));
  const Count most = most_elements / (std::int64_t{request.ranks} * request.ranks);
  if (request.count > most)
    throw apps::InputError(fmt::format("--count: allowed for {} ranks: up to {}", request.ranks, most.value()));
}

std::unique_ptr<FiledScene> filed(SceneRequest request, Unproved unproved) {
  const SceneRequest plain;
  for (const auto& [is_plain, name] :
       {std::pair{request.collective.empty(), "COLLECTIVE"}, std::pair{request.ranks == plain.ranks, "--ranks"},
        std::pair{request.root == plain.root, "--root"}, std::pair{request.spread.nodes.empty(), "--nodes"},
        std::pair{!request.in_place, "--in-place"}})
    if (!is_plain) throw apps::InputError(fmt::format("--file says what is shown: not with {}", name));
  const ScheduleFile file = read_schedules(request.file);
  request.ranks = file.ranks;
  if (request.count == plain.count) request.count = Count{file.chunks};
  require_consistent(request, file.collective);
  return std::make_unique<FiledScene>(file, request.count, request.fused, unproved);
}

std::unique_ptr<Scene> built(const SceneRequest& request, Unproved unproved) {
  for (const auto& [given, name] :
       {std::pair{request.collective, "COLLECTIVE"}, std::pair{request.algorithm, "ALGORITHM"}})
    if (given.empty()) throw apps::InputError(fmt::format("{} is missing; or --file FILE", name));
  const Collective collective = read_collective(request.collective);
  const Choice choice = read_algorithm(collective, request.algorithm);
  require_consistent(request, collective);
  checker::Case what{.size = request.ranks, .count = request.count};
  if (collective == Collective::barrier) what.count = Count{0};
  what.placement = request.in_place ? checker::Placement::in_place : checker::Placement::separate;
  what.root = Rank{request.root};
  what.parameter = choice.parameter;
  what.segment = Count{choice.segment};
  what.is_fused = request.fused;
  what.nodes = request.spread.nodes;
  what.sockets = request.spread.sockets;
  return std::make_unique<Scene>(choice, what, unproved);
}

}  // namespace

void SceneRequest::add_to(apps::Options& options) {
  using Takes = apps::Options::Takes;
  options.argument("COLLECTIVE", Takes::one_or_none, [this](std::string_view given) { collective = given; })
      .argument("ALGORITHM", Takes::one_or_none, [this](std::string_view given) { algorithm = given; })
      .text(
          "file", file, "FILE",
          "the schedules of this file, which `tutti show --format json` or another tool has written; -: standard input")
      .integer("ranks,p", ranks, 1, most_ranks, "ranks");
  add_count(options, count);
  add_levels(options, spread);
  options.integer("root", root, 0, most_ranks, "of broadcast, reduce, gather, scatter")
      .flag("in-place", in_place, "the output shares memory with the input, as in the MPI calls")
      .flag("fused", fused, "join receives with the reductions that use them");
}

AskedScene::AskedScene(SceneRequest request, Unproved unproved) {
  if (!request.file.empty())
    filed_ = filed(std::move(request), unproved);
  else
    own_ = built(request, unproved);
}

}  // namespace tutti::tool
