#pragma once

/// Open MPI's Fortran calls PMPI_ functions and internal ones, so every name is taken: the four that compilers make of
/// a name in mpif.h and `use mpi`, and that of mpi_f08, whose procedures take the same addresses.
#define TUTTI_FORTRAN_NAMES(lower, UPPER, parameters)                 \
  TUTTI_FORTRAN_NAME(mpi_##lower##_, parameters);                     \
  TUTTI_FORTRAN_ALIAS(mpi_##lower, parameters, mpi_##lower##_)        \
  TUTTI_FORTRAN_ALIAS(mpi_##lower##__, parameters, mpi_##lower##_)    \
  TUTTI_FORTRAN_ALIAS(MPI_##UPPER, parameters, mpi_##lower##_)        \
  TUTTI_FORTRAN_ALIAS(mpi_##lower##_f08_, parameters, mpi_##lower##_) \
  TUTTI_FORTRAN_NAME(mpi_##lower##_, parameters)
