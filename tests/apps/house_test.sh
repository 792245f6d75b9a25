#!/bin/bash
# The rules of scripts/house.py hold for this tree, and broken ones are found in another.
#   house_test.sh SOURCE
set -u
source=$1
"$source/scripts/house.py" --check || exit 1

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"/{scripts,lib/core/{plan,exec,transport/{mpi,shm/segment}},bindings/python/src}
cp "$source/scripts/house.py" "$tree/scripts"
check() { "$tree/scripts/house.py" --check; }
check >/dev/null || { echo "an empty tree breaks a rule"; exit 1; }
# expect_found FILE LINE MESSAGE: one line more in a file of the tree breaks a rule.
expect_found() {
  echo "$2" >"$tree/$1"
  local said
  if said=$(check) || ! grep -q "$3" <<<"$said"; then
    echo "'$2' in $1 gave '$said', not '$3'"
    exit 1
  fi
  rm "$tree/$1"
}
expect_found lib/core/plan/plan.hpp '#include "lib/core/exec/walk.hpp"' 'lib/core/plan/plan.hpp includes lib/core/exec/walk.hpp'
expect_found bindings/python/src/call.cpp '#include "lib/core/plan/plan.hpp"' 'lib/core/plan/plan.hpp, which is not installed'
expect_found lib/core/plan/plan.hpp '#include "apps/options.hpp"' 'above lib'
expect_found lib/core/transport/shm/segment/file.cpp '#include "lib/core/transport/mpi/check.hpp"' 'must not know each other'
expect_found lib/core/transport/mpi/port.hpp '#include "lib/core/transport/shm/tuning.hpp"' 'must not know each other'
expect_found lib/core/plan/README.md '[a page](plan.md)' 'lib/core/plan/README.md links to plan.md'
expect_found lib/core/plan/README.md '[a heading](README.md#none)' 'README.md#none, which is not there'
expect_found lib/core/transport/shm/segment/file.cpp 'constexpr std::int64_t longest_bytes = 4096;' 'longest_bytes = 4096'
# Two files that include each other by way of a third, and a class with one function too many.
echo '#include "lib/core/plan/b.hpp"' >"$tree/lib/core/plan/a.hpp"
echo '#include "lib/core/plan/c.hpp"' >"$tree/lib/core/plan/b.cpp"
touch "$tree/lib/core/plan/b.hpp"
expect_found lib/core/plan/c.hpp '#include "lib/core/plan/a.hpp"' 'circle: lib/core/plan/a > lib/core/plan/b > lib/core/plan/c > lib/core/plan/a'
expect_found lib/core/plan/d.hpp "class Large {
$(for i in {1..21}; do echo "  void function_$i(int number);"; done)
  [[nodiscard]] int accessor() const { return 1; }
};" 'class Large has 21 functions'
mkdir -p "$tree/algorithms"
expect_found algorithms/allreduce_mine.cpp 'constinit const Algorithm allreduce_mine{' 'no rule names it: algorithms/more'
