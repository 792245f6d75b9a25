#!/usr/bin/env bash
# mistakes_test.sh FLAGS COMPILER... - programs with a mistake in a call of Tutti do not compile, and the first line of the
# compiler's errors says in a sentence what is wrong; the same programs without it compile. FLAGS are separated by semicolons.
set -u
IFS=';' read -ra flags <<<"$1"
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0

fail() {
  echo "FAILED: $*" >&2
  head -n 12 "$folder/said" >&2
  failures=$((failures + 1))
}

run() { "$compiler" -std=c++20 -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX "${flags[@]}" "$@" >"$folder/said" 2>&1; }

# The headers are parsed once for each compiler.
precompile() {
  rm -f "$folder"/all.hpp*
  printf '#include <cstddef>\n#include <vector>\n#include "tutti/tutti.hpp"\n' >"$folder/all.hpp"
  run -x c++-header "$folder/all.hpp" -o "$folder/all.hpp.gch" || fail "$compiler: the headers do not compile"
}

# compile STATEMENT: in a function that has buffers and a communicator.
compile() {
  cat >"$folder/program.cpp" <<END
struct Point { double x, y; };
enum class Colour { red };
void f(std::vector<double>& in, std::vector<double>& out, std::vector<Point>& points, std::vector<std::byte>& bytes,
       std::vector<bool>& bits, std::vector<long double>& wide, std::vector<Colour>& colours, bool flag, Point point,
       const tutti::Communicator& comm, tutti::Batch& batch) {
  using namespace tutti;
  $1;
}
END
  run -fsyntax-only -include "$folder/all.hpp" "$folder/program.cpp"
}
# right STATEMENT
right() { compile "$1" || fail "$compiler: $1: does not compile"; }
# wrong SENTENCE STATEMENT
wrong() {
  if compile "$2"; then fail "$compiler: $2: compiles"; fi
  grep -m 1 'error' "$folder/said" | grep -qF "tutti: $1" || fail "$compiler: $2: the first error is not '$1'"
}

for compiler in "$@"; do
  precompile
  right 'allreduce(in, out, Op::sum, comm)'
  right 'broadcast(in, Rank{0}, comm); broadcast(points.data(), Count{points.size() * sizeof(Point)}, Type::uint8, Rank{0}, comm)'
  right 'reduce(in, out, Op::sum, Rank{0}, comm, {.algorithm = "knomial"}); barrier(comm)'
  right 'sendrecv(in, Rank{0}, out, Rank{0}, comm); batch.send(in, Rank{0}); batch.recv(out, Rank{0})'
  right 'int a = 0, b = 0; broadcast(a, b, Rank{0}, comm); allreduce(a, b, Op::max, comm)'
  wrong 'a std::vector<bool> has bits, no elements in memory' 'allreduce(bits, bits, Op::lor, comm)'
  wrong 'std::byte is no element type: use std::uint8_t' 'broadcast(bytes, Rank{0}, comm)'
  wrong 'std::byte is no element type: use std::uint8_t' 'batch.send(bytes, Rank{0})'
  wrong 'long double is no element type: use double' 'Request r = allreduce_async(wide, wide, Op::sum, comm); r.wait()'
  wrong 'long double is no element type: use double' 'long double x = 0; allreduce(x, Op::sum, comm)'
  wrong 'a struct is no element type: to move its bytes, pass a pointer, Count{bytes} and Type::uint8' \
    'broadcast(point, Rank{0}, comm)'
  wrong 'a struct is no element type' 'gather(points, points, Rank{0}, comm)'
  wrong 'a struct is no element type' 'Plan p = plan_alltoall(points, points, comm); p.start()'
  wrong 'this is no element type: tutti::Element' 'send(colours, Rank{0}, comm)'
  wrong 'a rank is written tutti::Rank{0}, not 0' 'broadcast(in, 0, comm)'
  wrong 'a rank is written tutti::Rank{0}, not 0' 'reduce(in, out, Op::sum, 0, comm)'
  wrong 'a rank is written tutti::Rank{0}, not 0' 'broadcast(in.data(), Count{4}, Type::fp64, 0, comm)'
  wrong 'a rank is written tutti::Rank{0}, not 0' 'int root = 0; auto r = scatter_async(in, out, root, comm, Options{})'
  wrong 'a rank is written tutti::Rank{0}, not 0' 'sendrecv(in, 0, out, Rank{0}, comm)'
  wrong 'a rank is written tutti::Rank{0}, not 0' 'batch.recv(out, 1)'
  wrong 'a count is written tutti::Count{4}, not 4' 'broadcast(in.data(), 4, Type::fp64, Rank{0}, comm)'
  wrong 'a count is written tutti::Count{4}, not 4' 'allreduce(in.data(), out.data(), 4, Type::fp64, Op::sum, comm)'
  wrong 'an operation is a tutti::Op, as tutti::Op::sum, not an MPI_Op, as MPI_SUM' 'allreduce(in, out, MPI_SUM, comm)'
  wrong 'an operation is a tutti::Op' 'reduce(in, out, MPI_SUM, Rank{0}, comm)'
  wrong 'an operation is a tutti::Op' 'auto p = plan_scan(in, out, MPI_MAX, comm)'
  wrong 'a call takes a tutti::Communicator, not an MPI_Comm' 'allreduce(in, out, Op::sum, MPI_COMM_WORLD)'
  wrong 'a call takes a tutti::Communicator, not an MPI_Comm' 'barrier(MPI_COMM_WORLD)'
  wrong 'a call takes a tutti::Communicator, not an MPI_Comm' 'broadcast(in, 0, MPI_COMM_WORLD)'
done

[ $failures -eq 0 ] && echo passed
exit $((failures > 0))
