#pragma once
// The schedules that a command is asked for: an algorithm and its problem, or a file.

#include <memory>
#include <string>

#include "apps/options.hpp"
#include "apps/tutti/input.hpp"
#include "apps/tutti/scene.hpp"

namespace tutti::tool {

struct SceneRequest {
  std::string collective{}, algorithm{}, file{};
  int ranks = 6, root = 0;
  Count count{24};
  bool in_place = false, fused = false;
  Spread spread{};

  /// Declares COLLECTIVE, ALGORITHM and the options that the two take, or a file does.
  void add_to(apps::Options& options);
};

/// The schedules that a request asks for.
class AskedScene {
 public:
  /// Throws InputError if the request contradicts itself, or if the schedules are refused as not proved.
  AskedScene(SceneRequest request, Unproved unproved);
  [[nodiscard]] const Scene& scene() const { return own_ ? *own_ : filed_->scene(); }

 private:
  std::unique_ptr<Scene> own_{};
  std::unique_ptr<FiledScene> filed_{};
};

}  // namespace tutti::tool
