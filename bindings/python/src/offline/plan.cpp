#include "plan.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <string>

#include "tutti/error.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti::python {
namespace {

namespace nb = nanobind;
using namespace nb::literals;
using OneOrMore = std::variant<Region, Regions>;

constexpr const char* buffers[] = {"input", "output", "scratch"};

std::string text_of(const Region& region) {
  return std::string{buffers[static_cast<int>(region.buffer)]} + "[" + std::to_string(region.offset.value()) + ":" +
         std::to_string((region.offset + region.count).value()) + "]";
}

Region part_of(const Region& region, const nb::slice& slice) {
  const auto [start, stop, step, length] = slice.compute(static_cast<std::size_t>(region.count.value()));
  if (step != 1) throw ArgumentError(text_of(region) + ": a region is cut in steps of 1");
  return {region.buffer, region.offset + Count{start}, Count{length}};
}

Regions blocks_of(const Region& region, int parts) {
  constexpr int most = 1 << 20;  // no rank has more peers
  if (parts < 1 || parts > most)
    throw ArgumentError(text_of(region) + ": blocks(" + std::to_string(parts) + "): allowed: 1 to " +
                        std::to_string(most));
  const Blocks blocks{region, parts};
  Regions list;
  for (int block = 0; block < parts; ++block)
    list.push_back(blocks[block]);
  return list;
}

Regions listed(const OneOrMore& given) {
  if (const auto* one = std::get_if<Region>(&given)) return {*one};
  return std::get<Regions>(given);
}

/// The builder of one rank, while its function writes.
class Plan {
 public:
  explicit Plan(const Problem& problem) : problem_(problem), builder_(problem) {}
  [[nodiscard]] const Problem& problem() const { return problem_; }

  /// Calls the function, whose errors say which rank it was.
  template <class Write>
  auto with(const Write& write) {
    if (is_over_) throw ArgumentError("a plan can be written only by the function that it was given to");
    try {
      return write(builder_);
    } catch (const std::logic_error& error) {
      throw ArgumentError("rank " + std::to_string(problem_.rank.value()) + ": " + error.what());
    }
  }
  [[nodiscard]] Schedule finish() {
    Schedule schedule = with([](ScheduleBuilder& builder) { return builder.build(); });
    is_over_ = true;
    return schedule;
  }

 private:
  Problem problem_;
  ScheduleBuilder builder_;
  bool is_over_ = false;
};

void add_region(nb::module_& module) {
  nb::class_<Region>(module, "Region", "Elements of a buffer that lie side by side. region[a:b] is a part of it.")
      .def_prop_ro(
          "buffer", [](const Region& region) { return buffers[static_cast<int>(region.buffer)]; },
          "input, output or scratch")
      .def_prop_ro(
          "offset", [](const Region& region) { return region.offset.value(); }, "its first element")
      .def_prop_ro(
          "count", [](const Region& region) { return region.count.value(); }, "its elements")
      .def("blocks", blocks_of, "parts"_a, "Near-equal parts: the first count % parts have one element more.")
      .def("__getitem__", part_of, "part"_a)
      .def("__len__", [](const Region& region) { return region.count.value(); })
      .def(
          "__eq__", [](const Region& a, const Region& b) { return a == b; }, nb::is_operator())
      .def("__hash__", [](const Region& region) { return nb::hash(nb::str(text_of(region).c_str())); })
      .def("__repr__", text_of);
}

}  // namespace

void add_plan(nb::module_& module) {
  add_region(module);
  const auto rank_of = [](const Plan& plan) { return plan.problem().rank.value(); };
  nb::class_<Plan>(
      module, "Plan",
      "The steps of one rank, which take effect as if they ran in the order they are written. Which of them "
      "really wait for others is inferred from the elements that they touch. Where a region is asked for, "
      "a list of regions will do, whose elements follow each other.")
      .def_prop_ro("rank", rank_of)
      .def_prop_ro("size", [](const Plan& plan) { return plan.problem().size; })
      .def_prop_ro("count", [](const Plan& plan) { return plan.problem().count.value(); })
      .def_prop_ro("root", [](const Plan& plan) { return plan.problem().root.value(); })
      .def_prop_ro("input", [](Plan& plan) { return plan.with([](auto& builder) { return builder.input(); }); })
      .def_prop_ro("output", [](Plan& plan) { return plan.with([](auto& builder) { return builder.output(); }); })
      .def(
          "scratch",
          [](Plan& plan, std::int64_t count) {
            return plan.with([&](ScheduleBuilder& builder) { return builder.scratch(Count{count}); });
          },
          "count"_a, "Fresh scratch, whose contents are undefined.")
      .def(
          "send",
          [](Plan& plan, const OneOrMore& from, int to) {
            plan.with([&](ScheduleBuilder& builder) { builder.send(listed(from), Rank{to}); });
          },
          "region"_a, "to"_a, "Sends elements to a rank.")
      .def(
          "recv",
          [](Plan& plan, const OneOrMore& into, int from) {
            plan.with([&](ScheduleBuilder& builder) { builder.recv(listed(into), Rank{from}); });
          },
          "region"_a, "source"_a, "Receives elements from a rank, in the order in which it sends.")
      .def(
          "reduce",
          [](Plan& plan, const OneOrMore& lhs, const OneOrMore& rhs, const OneOrMore& into) {
            plan.with([&](ScheduleBuilder& builder) { builder.reduce(listed(lhs), listed(rhs), listed(into)); });
          },
          "lhs"_a, "rhs"_a, "into"_a, "into = lhs (+) rhs; into may be one of them.")
      .def(
          "reduce_in_order",
          [](Plan& plan, int peer, const Region& theirs, const Region& mine, const Region& into) {
            plan.with([&](ScheduleBuilder& builder) { builder.reduce_in_order(Rank{peer}, theirs, mine, into); });
          },
          "peer"_a, "theirs"_a, "mine"_a, "into"_a,
          "Reduces theirs, which came from peer, and mine in the order of ranks.")
      .def(
          "copy",
          [](Plan& plan, const OneOrMore& from, const OneOrMore& into) {
            plan.with([&](ScheduleBuilder& builder) { builder.copy(listed(from), listed(into)); });
          },
          "source"_a, "into"_a, "Copies elements.")
      .def(
          "signal", [](Plan& plan, int to) { plan.with([&](ScheduleBuilder& builder) { builder.signal(Rank{to}); }); },
          "to"_a, "Sends a message without elements, when all steps before are complete.")
      .def(
          "wait", [](Plan& plan, int from) { plan.with([&](ScheduleBuilder& builder) { builder.await(Rank{from}); }); },
          "source"_a, "Waits for a signal: steps written later start after it.")
      .def(
          "follow",
          [](Plan& plan, int first, int last) {
            plan.with([&](ScheduleBuilder& builder) { builder.follow(first, last); });
          },
          "first"_a, "last"_a, "Every step from here on waits for the steps first..last-1, until the next call.")
      .def_prop_ro(
          "steps", [](Plan& plan) { return plan.with([](auto& builder) { return builder.steps(); }); },
          "how many steps are written")
      .def("__repr__", [rank_of](const Plan& plan) { return "<Plan of rank " + std::to_string(rank_of(plan)) + ">"; });
}

Schedule written(const nb::callable& write, const Problem& problem) {
  const nb::object plan = nb::cast(new Plan{problem}, nb::rv_policy::take_ownership);
  write(plan, problem.rank.value(), problem.size, problem.count.value());
  return nb::cast<Plan&>(plan).finish();
}

}  // namespace tutti::python
