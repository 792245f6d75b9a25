# Data on devices that UCX takes where they are, over the fake driver and a UCX with CUDA. TUTTI_CUDA_UCX_DIR names its
# folder, which has lib/libucp.so.0 and lib/ucx/libuct_cuda.so.0 (the wheel libucx-cu13: the folder libucx in it); by
# default that of scripts/peers.sh. Debian's UCX has no CUDA.
tutti_fake_cuda_test(device_far_test ${tests}/mpi/device_far_test.cpp RANKS 1 ENVIRONMENT FAKE_CUDA_ABORT=1)
