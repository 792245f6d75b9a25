#pragma once

#include <mpi.h>

#include "bindings/preload/fortran/address.hpp"
#include "fortran_names.hpp"  // of openmpi or mpich: by which names this MPI is called from Fortran

/// TUTTI_FORTRAN(allreduce, ALLREDUCE, function, 6) exports the Fortran procedure MPI_Allreduce under all of its names.
/// It passes on its 6 addresses, and stores the code that `function` returns in the error argument, which comes last
/// and may be absent in mpi_f08. A failed allocation ends the program, since no exception may cross Fortran.
#define TUTTI_FORTRAN(lower, UPPER, function, arguments)                                   \
  TUTTI_FORTRAN_NAMES(lower, UPPER, (TUTTI_PARAMETERS_##arguments void* error) noexcept) { \
    const int code = (function)(TUTTI_ADDRESSES_##arguments);                              \
    if (error != nullptr) *static_cast<MPI_Fint*>(error) = code;                           \
  }

/// One of the names. C's view of a procedure is a function of addresses alone.
#define TUTTI_FORTRAN_NAME(name, parameters) extern "C" __attribute__((visibility("default"))) void name parameters

#define TUTTI_FORTRAN_ALIAS(name, parameters, target) \
  TUTTI_FORTRAN_NAME(name, parameters) __attribute__((alias(#target)));

#define TUTTI_PARAMETERS_0
#define TUTTI_PARAMETERS_1 void *a1,
#define TUTTI_PARAMETERS_2 TUTTI_PARAMETERS_1 void *a2,
#define TUTTI_PARAMETERS_3 TUTTI_PARAMETERS_2 void *a3,
#define TUTTI_PARAMETERS_4 TUTTI_PARAMETERS_3 void *a4,
#define TUTTI_PARAMETERS_5 TUTTI_PARAMETERS_4 void *a5,
#define TUTTI_PARAMETERS_6 TUTTI_PARAMETERS_5 void *a6,
#define TUTTI_PARAMETERS_7 TUTTI_PARAMETERS_6 void *a7,
#define TUTTI_PARAMETERS_8 TUTTI_PARAMETERS_7 void *a8,
#define TUTTI_PARAMETERS_9 TUTTI_PARAMETERS_8 void *a9,
#define TUTTI_PARAMETERS_10 TUTTI_PARAMETERS_9 void *a10,
#define TUTTI_PARAMETERS_11 TUTTI_PARAMETERS_10 void *a11,

#define TUTTI_ADDRESSES_0
#define TUTTI_ADDRESSES_1 Address(a1)
#define TUTTI_ADDRESSES_2 TUTTI_ADDRESSES_1, Address(a2)
#define TUTTI_ADDRESSES_3 TUTTI_ADDRESSES_2, Address(a3)
#define TUTTI_ADDRESSES_4 TUTTI_ADDRESSES_3, Address(a4)
#define TUTTI_ADDRESSES_5 TUTTI_ADDRESSES_4, Address(a5)
#define TUTTI_ADDRESSES_6 TUTTI_ADDRESSES_5, Address(a6)
#define TUTTI_ADDRESSES_7 TUTTI_ADDRESSES_6, Address(a7)
#define TUTTI_ADDRESSES_8 TUTTI_ADDRESSES_7, Address(a8)
#define TUTTI_ADDRESSES_9 TUTTI_ADDRESSES_8, Address(a9)
#define TUTTI_ADDRESSES_10 TUTTI_ADDRESSES_9, Address(a10)
#define TUTTI_ADDRESSES_11 TUTTI_ADDRESSES_10, Address(a11)
