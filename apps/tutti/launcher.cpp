#include "apps/tutti/launcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "apps/options.hpp"

namespace tutti::tool {
namespace {

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// A text in quotes for a shell.
std::string in_quotes(std::string_view text) {
  std::string result = "'";
  for (const char letter : text)
    result += letter == '\'' ? std::string{"'\\''"} : std::string{letter};
  return result + "'";
}

}  // namespace

Launcher launcher_of(std::string_view command, std::string_view version) {
  if (std::filesystem::path{command}.filename() == "srun") return Launcher::srun;
  if (contains(version, "Open MPI") || contains(version, "OpenRTE") || contains(version, "PRRTE"))
    return Launcher::open_mpi;
  if (contains(version, "HYDRA") || contains(version, "Intel(R) MPI")) return Launcher::hydra;
  return Launcher::none;
}

std::string version_of(const std::string& command) {
  const std::string name = std::filesystem::path{command}.filename();
  // Others are programs, which may do anything when they are asked.
  if (!name.starts_with("mpirun") && !name.starts_with("mpiexec") && !name.starts_with("orterun") &&
      !name.starts_with("prterun"))
    return {};
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe{popen((in_quotes(command) + " --version 2>&1").c_str(), "r"),
                                                   ::pclose};
  if (pipe == nullptr) return {};
  std::string text;
  std::array<char, 4096> part{};
  while (const std::size_t read = std::fread(part.data(), 1, part.size(), pipe.get()))
    text.append(part.data(), read);
  return text;
}

std::vector<std::string> with_variables(Launcher launcher, const std::vector<std::string>& command,
                                        const std::vector<Variable>& variables) {
  std::vector<std::string> result{command.front()};
  std::string exported = "--export=ALL";
  for (const auto& [name, value] : variables) {
    if (launcher == Launcher::hydra) result.insert(result.end(), {"-genv", name, value});
    if (launcher == Launcher::srun && contains(value, ","))
      throw apps::InputError(fmt::format("{} is '{}': srun --export takes no values with commas", name, value));
    exported += fmt::format(",{}={}", name, value);
  }
  if (launcher == Launcher::srun) {
    for (const std::string& argument : command)
      if (argument.starts_with("--export=") || argument == "--export")
        throw apps::InputError(fmt::format("srun has '{}' already; leave it away, or add '{}' to it yourself", argument,
                                           exported.substr(std::string_view{"--export=ALL,"}.size())));
    result.push_back(exported);
  }
  if (launcher == Launcher::none) {
    result.front() = "env";
    for (const auto& [name, value] : variables)
      result.push_back(fmt::format("{}={}", name, value));
    result.push_back(command.front());
  }
  // Open MPI's option is for one of the programs of a command line, which a colon separates.
  const auto set_for_program = [&] {
    for (const auto& [name, value] : variables)
      if (launcher == Launcher::open_mpi) result.insert(result.end(), {"-x", fmt::format("{}={}", name, value)});
  };
  set_for_program();
  for (auto argument = command.begin() + 1; argument != command.end(); ++argument) {
    result.push_back(*argument);
    if (*argument == ":") set_for_program();
  }
  return result;
}

std::string objection(Launcher launcher, std::string_view command, std::string_view mpi) {
  const bool is_open_mpi = mpi.starts_with("Open MPI");
  const bool fits = launcher == Launcher::open_mpi ? is_open_mpi : launcher != Launcher::hydra || !is_open_mpi;
  if (fits) return {};
  return fmt::format(
      "'{}' starts programs of {}, but this Tutti was built for {}: use the launcher of that MPI, or a "
      "Tutti that was built for this one",
      command, launcher == Launcher::open_mpi ? "Open MPI" : "MPICH or Intel MPI", mpi);
}

}  // namespace tutti::tool
