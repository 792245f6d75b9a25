#include "tutti/offline.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "apps/options.hpp"
#include "apps/tutti/scene.hpp"
#include "lib/proof/checker/rounds.hpp"
#include "lib/proof/cost/catalogue.hpp"
#include "lib/proof/cost/simulate.hpp"
#include "tutti/error.hpp"

namespace tutti {

Rates tool::rates_of(const offline::Network& network) {
  return {.message = network.alpha,
          .sent = network.beta,
          .reduced = network.gamma,
          .copied = network.delta,
          .between = {.message = network.alpha_between, .sent = network.beta_between, .links = network.links}};
}

namespace offline {
namespace {

constexpr int most_ranks = 256, most_ranks_drawn = 64;
constexpr Count most_elements{1 << 24};  // of all ranks

/// The group of each rank.
std::vector<int> groups(const char* name, const std::vector<int>& sizes, int ranks) {
  std::vector<int> groups;
  for (int group = 0; const int size : sizes) {
    if (size < 1 || size > ranks) throw ArgumentError(fmt::format("{}: {} is no number of ranks", name, size));
    groups.insert(groups.end(), static_cast<std::size_t>(size), group++);
  }
  if (!groups.empty() && groups.size() != static_cast<std::size_t>(ranks))
    throw ArgumentError(fmt::format("{} has {} ranks in all, not {}", name, groups.size(), ranks));
  return groups;
}

checker::Case case_of(const Choice& choice, const Case& given) {
  const Collective collective = choice.algorithm->collective;
  if (given.ranks < 1 || given.ranks > most_ranks)
    throw ArgumentError(fmt::format("ranks {}: allowed: 1 to {}", given.ranks, most_ranks));
  const Count most = most_elements / (std::int64_t{given.ranks} * given.ranks);
  if (given.count < Count{0} || given.count > most)
    throw ArgumentError(
        fmt::format("count {}: allowed for {} ranks: 0 to {}", given.count.value(), given.ranks, most.value()));
  if (given.root < Rank{0} || given.root >= Rank{given.ranks})
    throw ArgumentError(fmt::format("root {} is no rank: allowed: 0 to {}", given.root.value(), given.ranks - 1));
  if (given.root != Rank{0} && !has_root(collective))
    throw ArgumentError(fmt::format("root: {} has no root", to_string(collective)));
  checker::Case what{.size = given.ranks, .count = collective == Collective::barrier ? Count{0} : given.count};
  what.placement = given.in_place ? checker::Placement::in_place : checker::Placement::separate;
  what.root = given.root;
  what.parameter = choice.parameter;
  what.segment = Count{choice.segment};
  what.is_fused = given.is_fused;
  what.nodes = groups("nodes", given.nodes, given.ranks);
  what.sockets = groups("sockets", given.sockets, given.ranks);
  for (std::size_t rank = 1; !what.sockets.empty() && rank < what.nodes.size(); ++rank)
    if (what.nodes[rank] != what.nodes[rank - 1] && what.sockets[rank] == what.sockets[rank - 1])
      throw ArgumentError(fmt::format("ranks {} and {} are on one socket, but on different nodes", rank - 1, rank));
  return what;
}

Choice read(Collective collective, std::string_view text) try {
  if (text.starts_with(file_prefix))
    throw ArgumentError(fmt::format("'{}': there is no file without a communicator", text));
  return read_choice(collective, text);
} catch (const std::invalid_argument& error) {
  throw ArgumentError(error.what());
}

/// The tool's exceptions are not those of the interface.
template <class Draw>
std::string drawn(const tool::Scene& scene, const Draw& draw) try {
  if (scene.what.size > most_ranks_drawn)
    throw ArgumentError(fmt::format("{} ranks are too many to draw, {} are not", scene.what.size, most_ranks_drawn));
  tool::require_drawable(scene);
  return draw(scene);
} catch (const apps::InputError& error) {
  throw ArgumentError(error.what());
}

}  // namespace

std::string_view order_of(const Algorithm& algorithm) { return tutti::order_of(algorithm); }

struct Schedules::Content {
  OwnAlgorithm own;     ///< Unused if the algorithm is of the registry, as is the next.
  Algorithm algorithm;  ///< Its entry, which refers to the texts above.
  std::unique_ptr<tool::Scene> scene;
};

Schedules::Schedules(Collective collective, std::string_view algorithm, const Case& what) try
    : content_(new Content{}) {
  const Choice choice = read(collective, algorithm);
  content_->scene = std::make_unique<tool::Scene>(choice, case_of(choice, what), tool::Unproved::shown);
} catch (const checker::Fault& fault) {
  throw ArgumentError(fault.text);
}

Schedules::Schedules(const OwnAlgorithm& algorithm, const Case& what) : content_(new Content{algorithm, {}, nullptr}) {
  const OwnAlgorithm& own = content_->own;
  Algorithm& entry = content_->algorithm;
  entry.collective = own.collective;
  entry.name = own.name;
  entry.order = own.order;
  entry.summary = own.summary;
  const Choice choice{&entry};
  content_->scene = std::make_unique<tool::Scene>(choice, case_of(choice, what), own.build);
}

Schedules::Schedules(Schedules&& other) noexcept = default;
Schedules::~Schedules() = default;

std::string Schedules::fault() const {
  const tool::Scene& scene = *content_->scene;
  const bool is_registered = scene.choice.algorithm != &content_->algorithm;
  return is_registered ? checker::prove(*scene.choice.algorithm, scene.what).fault : scene.verdict.fault;
}

std::string Schedules::title() const { return content_->scene->title(); }
int Schedules::ranks() const { return static_cast<int>(content_->scene->schedules.size()); }
std::string Schedules::text(int rank) const { return to_text(*content_->scene, rank); }
std::string Schedules::json(int rank) const { return to_json(*content_->scene, rank); }

std::string Schedules::dot() const {
  return drawn(*content_->scene, [](const tool::Scene& scene) { return to_dot(scene); });
}
std::string Schedules::svg() const {
  return drawn(*content_->scene, [](const tool::Scene& scene) { return to_svg(scene); });
}

void Schedules::require_proved() const {
  const checker::Verdict& verdict = content_->scene->verdict;
  if (!verdict.proved()) throw StateError(fmt::format("{}: not proved: {}", title(), verdict.fault));
}

Cost Schedules::cost() const {
  require_proved();
  return busiest(content_->scene->verdict.costs);
}

std::vector<std::vector<int>> Schedules::rounds() const {
  require_proved();
  return checker::rounds_of(content_->scene->schedules);
}

double Schedules::time(const Network& network) const {
  require_proved();
  if (network.links < 1) throw ArgumentError(fmt::format("links {}: allowed: 1 and more", network.links));
  Simulator simulator{content_->scene->what.nodes};
  for (const checker::RankSchedule& own : content_->scene->schedules)
    simulator.add(own.schedule);
  return simulator.run(tool::rates_of(network)).time;
}

}  // namespace offline
}  // namespace tutti
