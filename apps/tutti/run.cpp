// tutti run: starts an MPI program with libtutti_mpi.so preloaded into its ranks.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "apps/standard_output.hpp"
#include "apps/tutti/commands.hpp"
#include "apps/tutti/input.hpp"
#include "apps/tutti/launcher.hpp"
#include "lib/core/communicator/variables.hpp"
#include "tutti/environment.hpp"

namespace tutti::tool {
namespace {

struct Wanted {
  std::string serve, library;
  bool report = false, measure = false, prints = false;
};

/// The options of this command end at the first argument that is neither one of them nor the value of one.
std::size_t end_of_options(const Arguments& arguments) {
  std::size_t i = 0;
  while (i < arguments.size() && arguments[i].starts_with("-"))
    i += arguments[i] == "--serve" || arguments[i] == "--library" ? 2 : 1;
  return std::min(i, arguments.size());
}

/// Beside the tool: as installed, or as built.
std::filesystem::path find_library(const std::string& given) {
  std::vector<std::filesystem::path> places{given};
  if (given.empty()) {
    const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    places = {folder / TUTTI_LIBRARIES_FROM_TOOL / "libtutti_mpi.so",
              folder / "../../bindings/preload/libtutti_mpi.so"};
  }
  for (const std::filesystem::path& place : places)
    if (std::filesystem::exists(place)) return std::filesystem::canonical(place);
  throw apps::InputError(fmt::format("there is no library {}; name it by --library", places.front().string()));
}

/// The variables that Tutti reads go to all ranks: some launchers forward none.
std::vector<Variable> variables_for(const Wanted& wanted) {
  const char* const before = std::getenv("LD_PRELOAD");
  std::string preload = find_library(wanted.library);
  if (before != nullptr && *before != '\0') preload += fmt::format(":{}", before);
  std::vector<Variable> variables{{"LD_PRELOAD", preload}};
  for (const tutti::Variable& known : tutti::variables) {
    const std::string name{known.name};
    const char* const value = std::getenv(name.c_str());
    const bool is_replaced = (name == "TUTTI_INTERPOSE" && !wanted.serve.empty()) ||
                             (name == "TUTTI_LOG" && wanted.report) || (name == "TUTTI_MEASURE" && wanted.measure);
    if (value != nullptr && !is_replaced) variables.push_back({name, value});
  }
  if (!wanted.serve.empty()) variables.push_back({"TUTTI_INTERPOSE", wanted.serve});
  if (wanted.report) variables.push_back({"TUTTI_LOG", "info"});
  if (wanted.measure) variables.push_back({"TUTTI_MEASURE", "1"});
  return variables;
}

}  // namespace

int run(const Arguments& arguments) {
  const auto end = arguments.begin() + static_cast<std::ptrdiff_t>(end_of_options(arguments));
  const Arguments own{arguments.begin(), end};
  const std::vector<std::string> command{end, arguments.end()};
  Wanted wanted;
  apps::Options options{
      "tutti run",
      "Starts an MPI program, which need not know Tutti, with libtutti_mpi.so preloaded into its ranks:\n"
      "Tutti then serves its collectives (docs/preload.md).\n"
      "    tutti run mpirun -n 4 ./program\n"
      "    tutti run --serve all --report srun -n 4 ./program"};
  options.text("serve", wanted.serve, "WHICH", "all, auto, none, or a list as allreduce,bcast: sets TUTTI_INTERPOSE")
      .flag("report", wanted.report, "tell at the end which calls were served: sets TUTTI_LOG=info")
      .flag("measure", wanted.measure,
            "the same, and every second call goes to the MPI, to tell how long both take: sets TUTTI_MEASURE=1")
      .text("library", wanted.library, "FILE", "another library than the one that comes with this tool")
      .flag("print", wanted.prints, "print the command line instead of running it");
  if (is_told(options, own)) return apps::exit_success;
  if (command.empty())
    throw apps::InputError("no command; allowed: mpirun, mpiexec or srun with arguments, or a program");
  const Launcher launcher = launcher_of(command.front(), version_of(command.front()));
  if (const std::string why = objection(launcher, command.front(), mpi_library()); !why.empty())
    throw apps::InputError(why);
  std::vector<std::string> line = with_variables(launcher, command, variables_for(wanted));
  if (wanted.prints) {
    apps::print("{}\n", fmt::join(line, " "));
    return apps::exit_success;
  }
  std::vector<char*> pointers;
  pointers.reserve(line.size() + 1);
  for (std::string& argument : line)
    pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  ::execvp(pointers.front(), pointers.data());
  throw apps::InputError(fmt::format("'{}' cannot be started: {}", command.front(), std::strerror(errno)));
}

}  // namespace tutti::tool
