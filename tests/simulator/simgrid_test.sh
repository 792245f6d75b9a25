#!/usr/bin/env bash
# simgrid_test.sh TUTTI REFEREE RANKS - schedules in the simulator and in SimGrid: times that differ by less than 1 %.
# Prints a line for each case: topology, collective, algorithm, microseconds of both, and by how much they differ.
#
# SimGrid's shares of links are inversely proportional to latencies; where all latencies are 0, they are equal. Both are
# compared. Its own dragonfly is compared with one chassis in each group alone: its routes from other chassis than the
# first (3.32, DragonflyZone.cpp) skip a link. With more, and for files, it gets the routes of `tutti simulate`.
set -u
tutti=$1 referee=$2 ranks=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
rates=overhead=0,handshake=0,eager=0,reduced=0,copied=0

case $ranks in
  16) fat_tree='2;4,4;1,2;1,1' torus='4,4' one_chassis='4,1;1,1;4,1;1' dragonfly='2,1;2,1;2,1;2' ;;
  36) fat_tree='2;6,6;1,3;1,1' torus='3,4,3' one_chassis='4,1;1,1;4,1;2' dragonfly='3,1;2,1;3,1;2' ;;
  64) fat_tree='2;8,8;1,4;1,1' torus='4,4,4' one_chassis='4,1;1,1;4,1;4' dragonfly='4,1;2,1;4,1;2' ;;
  *) echo "ranks: 16, 36 or 64" && exit 2 ;;
esac
[ "$ranks" = 36 ] && one_chassis='3,1;1,1;4,2;3'

# cluster LATENCY ATTRIBUTES: SimGrid's own topology.
cluster() {
  cat <<XML
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
<cluster id="c" prefix="h" suffix="" radical="0-$((ranks - 1))" speed="1Gf" bw="12.5GBps" lat="$1us" $2 sharing_policy="SPLITDUPLEX"/>
</platform>
XML
}

# compare TOPOLOGY ATTRIBUTES LATENCY COLLECTIVE ALGORITHM BYTES: no attributes: with the routes of `tutti simulate`.
compare() {
  local topology=$1 attributes=$2 latency=$3 what=("$4" "$5" -p "$ranks" -n "$6" --topology "$1" --set "$rates,link.latency=$3")
  local sharing=latency
  [ "$latency" = 0 ] && sharing=equal
  if [ -n "$attributes" ]; then
    cluster "$latency" "$attributes" >platform.xml
  else
    "$tutti" simulate "${what[@]}" --export platform >platform.xml
  fi
  "$tutti" simulate "${what[@]}" --export goal >schedule.goal
  local ours theirs
  ours=$("$tutti" simulate "${what[@]}" --sharing $sharing --format csv | tail -1 | cut -d, -f3)
  theirs=$("$referee" platform.xml <schedule.goal 2>errors) || cat errors
  awk -v ours="$ours" -v theirs="$theirs" -v what="$topology latency $latency $4 $5" 'BEGIN {
    difference = theirs > 0 ? 100 * (ours / theirs - 1) : 100
    printf "%-50s %12.3f %12.3f %8.3f %%\n", what, ours, theirs, difference
    exit difference > 1 || difference < -1
  }' || failures=$((failures + 1))
}

failures=0
while read -r topology attributes; do
  for latency in 0.5 0; do
    for algorithm in ring recursive_doubling rabenseifner swing circulant; do
      compare "$topology" "$attributes" $latency allreduce $algorithm 1M
    done
    for algorithm in ring bruck halving_distance; do
      compare "$topology" "$attributes" $latency allgather $algorithm $((ranks * 16384))
    done
    for algorithm in pairwise bruck; do
      compare "$topology" "$attributes" $latency alltoall $algorithm $((ranks * 16384))
    done
  done
done <<END
crossbar topology="FLAT"
fat-tree:$fat_tree topology="FAT_TREE" topo_parameters="$fat_tree"
torus:$torus topology="TORUS" topo_parameters="$torus"
dragonfly:$one_chassis topology="DRAGONFLY" topo_parameters="$one_chassis"
dragonfly:$dragonfly
END
[ $failures = 0 ] || echo "$failures cases differ by more than 1 %"
[ $failures = 0 ]
