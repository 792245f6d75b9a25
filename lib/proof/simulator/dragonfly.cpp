#include <fmt/format.h>

#include "topology.hpp"

namespace tutti::simulator {
namespace {

class Dragonfly : public Topology {
 public:
  Dragonfly(const DragonflyForm& form, const LinkRates& link) : form_(form) {
    hosts_ = form.groups * in_group() * form.hosts;
    vertices_ = hosts_ + routers();
    kinds_ = {"host up", "host down", "green", "black", "blue"};
    for (int host = 0; host < hosts_; ++host) {
      const int router = host / form.hosts;
      add_link(host, hosts_ + router, 0, link);
      add_link(hosts_ + router, host, 1, link);
    }
    green_ = link_all(form.routers, 2, form.green, link,
                      [&](int router, int other) { return router / form_.routers * form_.routers + other; });
    black_ = link_all(form.chassis, 3, form.black, link, [&](int router, int other) {
      return group(router) * in_group() + other * form_.routers + blade(router);
    });
    blue_ = static_cast<int>(links_.size());
    for (int from = 0; from < form.groups; ++from)
      for (int to = 0; to < form.groups; ++to)
        add_link(hosts_ + gateway(from, to), hosts_ + gateway(to, from), 4, link, form.blue);
  }

  void route(int from, int to, std::vector<int>& links) const override {
    const int source = from / form_.hosts, target = to / form_.hosts;
    links.push_back(2 * from);
    if (group(source) == group(target)) {
      cross_group(source, target, links);
    } else {
      const int leaving = gateway(group(source), group(target)), entering = gateway(group(target), group(source));
      cross_group(source, leaving, links);
      links.push_back(blue_ + group(source) * form_.groups + group(target));
      cross_group(entering, target, links);
    }
    links.push_back(2 * to + 1);
  }

  [[nodiscard]] std::vector<Partition> partitions() const override {
    std::vector<Partition> all;
    const auto add = [&](const char* name, int size) {
      Partition partition{name, {}, routers() / size};
      for (int vertex = 0; vertex < vertices_; ++vertex)
        partition.group_of.push_back((vertex < hosts_ ? vertex / form_.hosts : vertex - hosts_) / size);
      if (partition.groups > 1) all.push_back(std::move(partition));
    };
    add("groups", in_group());
    add("chassis", form_.routers);
    add("routers", 1);
    return all;
  }

  [[nodiscard]] std::string name_of_vertex(int vertex) const override {
    if (vertex < hosts_) return fmt::format("host {}", vertex);
    const int router = vertex - hosts_;
    return fmt::format("router {}.{}.{}", group(router), chassis(router), blade(router));
  }

 private:
  [[nodiscard]] int in_group() const { return form_.chassis * form_.routers; }
  [[nodiscard]] int routers() const { return form_.groups * in_group(); }
  [[nodiscard]] int group(int router) const { return router / in_group(); }
  [[nodiscard]] int chassis(int router) const { return router / form_.routers % form_.chassis; }
  [[nodiscard]] int blade(int router) const { return router % form_.routers; }
  /// The router of a group that has the cable to another.
  [[nodiscard]] int gateway(int from, int to) const { return from * in_group() + to % in_group(); }

  /// Links every router to those that `other` names by 0, 1, ..., `count` - 1; to itself, too, which no route uses, so
  /// that places of links are simple. Returns the first.
  template <class Other>
  int link_all(int count, int kind, int cables, const LinkRates& link, const Other& other) {
    const int first = static_cast<int>(links_.size());
    for (int router = 0; router < routers(); ++router)
      for (int number = 0; number < count; ++number)
        add_link(hosts_ + router, hosts_ + other(router, number), kind, link, cables);
    return first;
  }

  /// Between two routers of a group.
  void cross_group(int from, int to, std::vector<int>& links) const {
    if (blade(from) != blade(to)) {
      links.push_back(green_ + from * form_.routers + blade(to));
      from += blade(to) - blade(from);
    }
    if (chassis(from) != chassis(to)) links.push_back(black_ + from * form_.chassis + chassis(to));
  }

  DragonflyForm form_;
  int green_ = 0, black_ = 0, blue_ = 0;  // the first link of each
};

}  // namespace

std::unique_ptr<Topology> dragonfly(const DragonflyForm& form, const LinkRates& link) {
  return std::make_unique<Dragonfly>(form, link);
}

}  // namespace tutti::simulator
