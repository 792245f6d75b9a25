// The commands that need MPI, in a build without it.
#include <fmt/format.h>

#include "apps/options.hpp"
#include "apps/standard_output.hpp"
#include "apps/tutti/commands.hpp"
#include "apps/tutti/input.hpp"

namespace tutti::tool {
namespace {

int refused(const Arguments& arguments, const char* name, const char* purpose) {
  const std::string why = "this tutti was built without MPI (TUTTI_MPI=OFF)";
  apps::Options options{name, fmt::format("{}; but {}.", purpose, why)};
  const bool is_about_itself = arguments.size() == 1 && arguments[0].starts_with("-");
  if (is_about_itself && is_told(options, arguments)) return apps::exit_success;
  throw apps::InputError(why);
}

}  // namespace

int run(const Arguments& arguments) {
  return refused(arguments, "tutti run", "Starts an MPI program whose collectives Tutti serves");
}

int tune(const Arguments& arguments) {
  return refused(arguments, "tutti tune", "Measures which algorithms are the fastest here");
}

}  // namespace tutti::tool
