#pragma once
// The commands of the tool: each gets the arguments behind its name and returns the exit code. They throw InputError
// for input that they cannot use.

#include <string>
#include <vector>

namespace tutti::tool {

using Arguments = std::vector<std::string>;

int list(const Arguments& arguments);
int show(const Arguments& arguments);
int verify(const Arguments& arguments);
int cost(const Arguments& arguments);
int simulate(const Arguments& arguments);
int choose(const Arguments& arguments);
int rules(const Arguments& arguments);
int info(const Arguments& arguments);
int run(const Arguments& arguments);
int ps(const Arguments& arguments);
int trace(const Arguments& arguments);
int bits(const Arguments& arguments);
int tune(const Arguments& arguments);
int plot(const Arguments& arguments);
// `import` and `export` are words of C++.
int import_schedules(const Arguments& arguments);
int export_schedules(const Arguments& arguments);

}  // namespace tutti::tool
