#!/usr/bin/env bash
# peer_mpirun.sh ARGUMENTS... - the mpirun of one of the MPIs that scripts/peers.sh installs: of the one that PEER names,
# mpich or intel. For programs that were built against the standard ABI of MPI, which run on both.
set -eu
folder=${TUTTI_PEERS:-${XDG_CACHE_HOME:-$HOME/.cache}/tutti-peers}
peer=${PEER:-mpich}
if [ "$peer" = intel ]; then
  export I_MPI_ROOT=$folder/intel FI_PROVIDER_PATH=$folder/intel/lib
  export LD_LIBRARY_PATH=$folder/intel/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
fi
exec "$folder/$peer/bin/mpirun" "$@"
