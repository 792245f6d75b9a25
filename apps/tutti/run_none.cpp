// tutti run, in a build without MPI.
#include "apps/tutti/commands.hpp"
#include "apps/tutti/input.hpp"

namespace tutti::tool {

int run(const Arguments& /*arguments*/) { throw apps::InputError("this tutti was built without MPI (TUTTI_MPI=OFF)"); }

}  // namespace tutti::tool
