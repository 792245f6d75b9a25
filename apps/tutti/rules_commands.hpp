#pragma once
// The commands of `tutti rules`: as those of the tool.

#include "apps/tutti/commands.hpp"

namespace tutti::tool {

int check_rules(const Arguments& arguments);
int show_rules(const Arguments& arguments);
int diff_rules(const Arguments& arguments);
int merge_rules(const Arguments& arguments);
int plot_rules(const Arguments& arguments);
int import_rules(const Arguments& arguments);

}  // namespace tutti::tool
