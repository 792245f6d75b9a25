#pragma once

/// The Fortran of MPICH and Intel MPI calls C's MPI_ functions, except where mpi_f08 has no buffer to describe: there
/// it calls PMPI_ functions. So only these names are taken.
#define TUTTI_FORTRAN_NAMES(lower, UPPER, parameters) TUTTI_FORTRAN_NAME(mpi_##lower##_f08_, parameters)
