#ifndef TESTS_C_CHECK_H
#define TESTS_C_CHECK_H
// Checks of the tests in C. Each failed one is printed and counted; the program's status says whether there were any.

#include <stdio.h>
#include <string.h>

#include "tutti.h"

extern int check_failures;
extern int check_rank, check_size;  // in MPI_COMM_WORLD
extern tutti_comm comm;             // over it

/// The number by which Fortran knows a communicator.
#if defined(MPI_ABI_VERSION)
#define FORTRAN_NUMBER(mpi_comm) MPI_Comm_toint(mpi_comm)
#else
#define FORTRAN_NUMBER(mpi_comm) MPI_Comm_c2f(mpi_comm)
#endif

/// The tests of a program, which it defines.
void run_tests(void);

void check_failed(const char* file, int line, const char* what, const char* more);
void check_refused(const char* file, int line, const char* call, tutti_status status, tutti_status wanted,
                   const char* text);

#define CHECK(condition)                                                \
  do {                                                                  \
    if (!(condition)) check_failed(__FILE__, __LINE__, #condition, ""); \
  } while (0)
#define CHECK_OK(call)                                                                        \
  do {                                                                                        \
    if ((call) != TUTTI_SUCCESS) check_failed(__FILE__, __LINE__, #call, tutti_last_error()); \
  } while (0)
/// The call fails with this status, and its text has `text`.
#define CHECK_REFUSED(call, wanted, text) check_refused(__FILE__, __LINE__, #call, call, wanted, text)

/// The forms of a collective.
enum { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };
void check_request(const char* file, int line, tutti_status status, tutti_request* request);
void check_plan(const char* file, int line, tutti_status status, tutti_plan* plan);

/// Runs a collective in one of its forms to its end.
#define RUN(form, name, ...)                                                                                        \
  do {                                                                                                              \
    tutti_request its_request;                                                                                      \
    tutti_plan its_plan;                                                                                            \
    if ((form) == BLOCKING) CHECK_OK(tutti_##name(__VA_ARGS__, comm, NULL));                                        \
    if ((form) == NONBLOCKING)                                                                                      \
      check_request(__FILE__, __LINE__, tutti_##name##_async(__VA_ARGS__, comm, NULL, &its_request), &its_request); \
    if ((form) == PERSISTENT)                                                                                       \
      check_plan(__FILE__, __LINE__, tutti_plan_##name(__VA_ARGS__, comm, NULL, &its_plan), &its_plan);             \
  } while (0)

#endif
