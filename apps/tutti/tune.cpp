// tutti tune: apps/tune does it.
#include "apps/tune/tune.hpp"

#include "apps/tutti/commands.hpp"

namespace tutti::tool {

int tune(const Arguments& arguments) {
  Arguments all{"tutti tune"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  argv.reserve(all.size() + 1);
  for (std::string& argument : all)
    argv.push_back(argument.data());
  argv.push_back(nullptr);
  return tune::tune_main(static_cast<int>(all.size()), argv.data());
}

}  // namespace tutti::tool
