#!/usr/bin/env bash
# files_test.sh SETTINGS - the installed tree has the libraries, both of the same parts, the headers, the programs and their
# pages; its libraries need what the package asks for, and nothing else.
source "$(dirname "$0")/common.sh" "$1"
libraries=$prefix/$library_folder

minor=${version%.*}
# expect_link NAME FILE
expect_link() { [ "$(readlink "$libraries/$1")" = "$2" ] || fail "$1 is no link to $2"; }
expect_link libtutti.so "libtutti.so.$minor"
expect_link "libtutti.so.$minor" "libtutti.so.$version"
readelf -d "$libraries/libtutti.so" >"$log" 2>&1
grep -q "SONAME.*\[libtutti.so.$minor\]" "$log" || fail "the shared library's name is not libtutti.so.$minor"
! grep -E 'RPATH|RUNPATH' "$log" || fail 'the shared library has a path to other libraries'

# defined FILE OPTIONS...: the functions of namespace tutti that it defines for programs.
defined() { nm -C --defined-only "${@:2}" "$1" 2>/dev/null | sed -nE 's/^[0-9a-f]+ [TW] (tutti::.*)/\1/p' | sort -u; }
defined "$libraries/libtutti.so" -D >"$folder/shared"
defined "$libraries/libtutti.a" >"$folder/static"
[ -s "$folder/shared" ] || fail 'the shared library exports nothing'
comm -23 "$folder/shared" "$folder/static" >"$log"
[ ! -s "$log" ] || fail 'the shared library has what the static one has not'

diff -r -x fortran "$sources/include" "$prefix/include" >"$log" || fail 'the headers are not those of the sources'
for file in share/doc/tutti/{LICENSE,copyright,CHANGELOG.md,README.md,algorithms/README.md,docs/environment.md} \
  share/doc/tutti/{docs/pictures/allreduce_ring_p8.svg,slurm/bench.sbatch,slurm/train.sbatch,slurm/tune.sbatch,slurm/gpu.sbatch,etc/tutti/rules.d/two-cores.json} bin/tutti \
  ${mpirun:+bin/tutti-bench bin/tutti-sgd bin/tutti-soak share/tutti/digits.csv "$library_folder/libtutti_mpi.so"}; do
  [ -s "$prefix/$file" ] || fail "$file is missing"
done
"$prefix/bin/tutti" --version >"$log" 2>&1 && grep -q "$version" "$log" || fail 'the tool does not run'
[ -z "$mpirun" ] || run 2 "$prefix/bin/tutti-sgd" --epochs 1 || fail 'tutti-sgd does not find its data'
[ -z "$mpirun" ] || run 2 "$prefix/bin/tutti-soak" --calls 100 || fail 'tutti-soak does not run'

# Pages, examples and batch jobs lie as in the sources, and no link of a page is dead.
doc=$prefix/share/doc/tutti
for folder_of in docs examples; do
  diff -r -q -x __pycache__ "$sources/$folder_of" "$doc/$folder_of" | grep -v '\.md differ$' >"$log"
  [ ! -s "$log" ] || fail "$folder_of is not installed as it is"
done
cmp -s "$sources/slurm/bench.sbatch" "$doc/slurm/bench.sbatch" || fail 'the batch jobs are not those of the sources'
[ ! -e "$doc/slurm/lab" ] || fail 'the cluster of the tests is installed'
# Where there is no build, a batch job runs the installed program, by PATH.
for job in bench train; do
  (cd "$folder" && env -u TUTTI_BUILD_DIR SLURM_SUBMIT_DIR="$folder" SLURM_JOB_ID=1 SLURM_JOB_NODELIST=a SLURM_NTASKS=1 \
    TUTTI_LAUNCH='echo launched' bash "$doc/slurm/$job.sbatch") >"$log" 2>&1
  grep -qE '^launched tutti-(bench|sgd) --' "$log" || fail "$job.sbatch does not run the installed program"
done
# dead_links FOLDER: links of its pages to files that are not there.
dead_links() {
  find "$1" -name '*.md' | while read -r page; do
    grep -oE '\]\([^() ]+\)' "$page" | sed -E 's/^..//; s/\)$//; s/#.*//' | grep -vE '^([a-z]+:|$)' |
      while read -r link; do [ -e "$(dirname "$page")/$link" ] || echo "$page: $link"; done
  done
}
mkdir "$folder/pages" && echo '[a](b.md) [c](https://d/e.md)' >"$folder/pages/page.md"
[ "$(dead_links "$folder/pages")" = "$folder/pages/page.md: b.md" ] || fail 'a dead link is not found'
dead_links "$doc" >"$log"
[ ! -s "$log" ] || fail 'pages have links to files that are not installed'
grep -q '](../../../../include/tutti/[a-z_]*.hpp)' "$doc/docs/architecture.md" || fail 'no link leads to the installed headers'
# Only links differ from the pages of the sources.
text_of() { sed -zE 's/\[([^][]*)\]\([^()]*\)/\1/g' "$1"; }
(cd "$sources" && find README.md CHANGELOG.md algorithms/README.md docs examples -name '*.md') | while read -r page; do
  [ "$(text_of "$sources/$page")" = "$(text_of "$doc/$page")" ] || echo "$page"
done >"$log"
[ ! -s "$log" ] || fail 'pages differ from those of the sources in more than links'

# Nobody has to have what only this project's own build needs.
grep -ohE '\b[A-Za-z]+::' "$libraries"/cmake/Tutti/TuttiTargets*.cmake | sort -u | grep -vE '^(Tutti|fmt|MPI)::' >"$log"
[ ! -s "$log" ] || fail 'the libraries link packages that TuttiConfig.cmake does not look for'
finish
