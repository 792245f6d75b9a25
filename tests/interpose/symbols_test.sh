#!/usr/bin/env bash
# symbols_test.sh LIBRARY LIST... - the library exports the functions of the lists, and nothing else.
set -u
library=$1
shift
diff <(cat "$@" | grep -v '^#' | sort -u) <(nm -DC --defined-only "$library" | awk '{ print $NF }' | sort -u) && exit 0
echo "FAILED: < are in the lists and not exported, > are exported and not in the lists" >&2
exit 1
