#pragma once
// Parts of the report: what the figures decide, and the page for people.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace tutti::gpu {

using Json = nlohmann::ordered_json;

/// The figure of the probe that was measured with most bytes. `all`: all results, as results.json has them.
/// `processes` 0: of any number of them.
[[nodiscard]] std::optional<double> figure(const Json& all, std::string_view name, int processes = 0);

/// What the figures decide: constants that were guessed without a GPU, each with its line of code and with what was
/// measured. `root` has the sources: the tree, or what scripts/gpu_pack.sh has packed. Throws std::runtime_error if a
/// constant is not in its file.
[[nodiscard]] Json decisions(const Json& all, const std::filesystem::path& root);

/// The files that have these constants, relative to the root.
[[nodiscard]] std::set<std::string> decided_files();

/// A page that can be committed as docs/gpu-machine.md: the machine and the call; the steps and the time of each part;
/// what the figures decide; the figures of the probe; the collectives.
[[nodiscard]] std::string to_markdown(const Json& all);

}  // namespace tutti::gpu
