// The module _offline: tutti/offline.hpp for Python, of which tutti/schedule.py makes what users see.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <vector>

#include "plan.hpp"
#include "tutti/error.hpp"
#include "tutti/offline.hpp"
#include "tutti/version.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tutti::python {
namespace {

Collective collective_of(std::string_view name) {
  if (const auto found = find_collective(name)) return *found;
  std::string names;
  for (int each = 0; each < collective_count; ++each)
    names += (each == 0 ? "" : ", ") + std::string{to_string(static_cast<Collective>(each))};
  throw ArgumentError("'" + std::string{name} + "' is no collective; allowed: " + names);
}

Order order_of(std::string_view name) {
  if (name == "ranks") return Order::of_ranks;
  if (name == "any") return Order::any;
  throw ArgumentError("order '" + std::string{name} + "': allowed: ranks, any");
}

nb::dict facts_of(const Algorithm& algorithm) {
  nb::dict facts;
  facts["collective"] = to_string(algorithm.collective);
  facts["name"] = algorithm.name;
  facts["order"] = offline::order_of(algorithm);
  facts["levels"] = static_cast<int>(algorithm.levels) + 1;
  facts["parameter"] = nb::none();
  if (!algorithm.parameter.name.empty())
    facts["parameter"] = nb::make_tuple(algorithm.parameter.name, algorithm.parameter.fallback,
                                        algorithm.parameter.least, algorithm.parameter.most);
  facts["summary"] = algorithm.summary;
  facts["source"] = algorithm.source;
  return facts;
}

std::vector<nb::dict> algorithms_of(const std::optional<std::string>& collective) {
  std::vector<nb::dict> list;
  for (int each = 0; each < collective_count; ++each)
    for (const Algorithm* algorithm : algorithms())
      if (algorithm->collective == static_cast<Collective>(each) &&
          (!collective || algorithm->collective == collective_of(*collective)))
        list.push_back(facts_of(*algorithm));
  if (list.empty()) static_cast<void>(collective_of(*collective));
  return list;
}

offline::Case case_of(int ranks, std::int64_t count, int root, bool in_place, bool fused, std::vector<int> nodes,
                      std::vector<int> sockets) {
  return {ranks, Count{count}, Rank{root}, in_place, fused, std::move(nodes), std::move(sockets)};
}

nb::dict cost_of(const offline::Schedules& schedules) {
  const Cost cost = schedules.cost();
  nb::dict facts;
  facts["messages"] = cost.messages;
  facts["rounds"] = cost.rounds;
  facts["sent"] = cost.sent.value();
  facts["reduced"] = cost.reduced.value();
  facts["copied"] = cost.copied.value();
  facts["scratch"] = cost.scratch.value();
  return facts;
}

void add_schedules(nb::module_& module) {
  using offline::Schedules;
  nb::class_<Schedules>(module, "Schedules")
      .def_prop_ro("fault", &Schedules::fault)
      .def_prop_ro("title", &Schedules::title)
      .def_prop_ro("ranks", &Schedules::ranks)
      .def("text", &Schedules::text, "rank"_a)
      .def("json", &Schedules::json, "rank"_a)
      .def("dot", &Schedules::dot)
      .def("svg", &Schedules::svg)
      .def("cost", cost_of)
      .def("rounds", &Schedules::rounds)
      .def("time", [](const Schedules& schedules, double alpha, double beta, double gamma, double delta,
                      double alpha_between, double beta_between, int links) {
        return schedules.time({alpha, beta, gamma, delta, alpha_between, beta_between, links});
      });
  module.def("of", [](std::string_view collective, std::string_view algorithm, int ranks, std::int64_t count, int root,
                      bool in_place, bool fused, std::vector<int> nodes, std::vector<int> sockets) {
    return Schedules{collective_of(collective), algorithm,
                     case_of(ranks, count, root, in_place, fused, std::move(nodes), std::move(sockets))};
  });
  module.def("built", [](std::string_view collective, const std::string& name, const std::string& summary,
                         std::string_view order, const nb::callable& write, int ranks, std::int64_t count, int root,
                         bool in_place, bool fused, std::vector<int> nodes, std::vector<int> sockets) {
    const auto build = [&](const Problem& problem) { return written(write, problem); };
    return Schedules{{collective_of(collective), name, summary, order_of(order), build},
                     case_of(ranks, count, root, in_place, fused, std::move(nodes), std::move(sockets))};
  });
}

}  // namespace
}  // namespace tutti::python

NB_MODULE(_offline, module) {
  module.attr("version") = TUTTI_VERSION;
  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    const auto raise = [](const char* name, const char* text) {
      PyErr_SetString(nb::module_::import_("tutti._errors").attr(name).ptr(), text);
    };
    try {
      std::rethrow_exception(pointer);
    } catch (const tutti::ArgumentError& error) {
      raise("ArgumentError", error.what());
    } catch (const tutti::StateError& error) {
      raise("StateError", error.what());
    }
  });
  tutti::python::add_plan(module);
  module.def("algorithms", tutti::python::algorithms_of, "collective"_a.none());
  tutti::python::add_schedules(module);
}
