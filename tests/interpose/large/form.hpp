#pragma once
// Tests of functions whose counts have 64 bits (MPI 4).
#include <mpi.h>
using N = MPI_Count;
using D = MPI_Aint;
#define FORM(name) name##_c
