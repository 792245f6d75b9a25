#!/usr/bin/env bash
# remote_shell.sh [-OPTION...] HOST COMMAND... - what an MPI's launcher calls in place of ssh.
set -eu
while [ "${1#-}" != "$1" ]; do shift; done
node=$1
shift
exec "$(dirname "$0")/enter.sh" "$node" /bin/sh -c "$*"
