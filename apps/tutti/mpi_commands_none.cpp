// tutti run, in a build without MPI.
#include "apps/options.hpp"
#include "apps/standard_output.hpp"
#include "apps/tutti/commands.hpp"
#include "apps/tutti/input.hpp"

namespace tutti::tool {

int run(const Arguments& arguments) {
  const std::string why = "this tutti was built without MPI (TUTTI_MPI=OFF)";
  apps::Options options{"tutti run", "Starts an MPI program whose collectives Tutti serves; but " + why + "."};
  const bool is_about_itself = arguments.size() == 1 && arguments[0].starts_with("-");
  if (is_about_itself && is_told(options, arguments)) return apps::exit_success;
  throw apps::InputError(why);
}

}  // namespace tutti::tool
