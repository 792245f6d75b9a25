#pragma once
// How optional parts, which lib does not know, make themselves known.

#include "tutti/environment.hpp"

namespace tutti {

/// A part that is linked in. Make one with static lifetime; `describe` runs when components() is called.
class ComponentRegistration {
 public:
  explicit ComponentRegistration(Component (*describe)());
};

/// What components() returns, without loading CUDA's driver for it.
[[nodiscard]] std::vector<Component> components_as_loaded();

}  // namespace tutti
