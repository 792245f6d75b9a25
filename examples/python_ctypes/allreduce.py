#!/usr/bin/env python3
"""Tutti from a language that calls functions of C: here Python, by ctypes.

    mpirun -n 4 python3 allreduce.py /usr/local/lib/libtutti.so

Handles are pointers, counts have 64 bits, and numbers of types and operations are those of tutti/c/types.h and
tutti/c/operations.h. The functions of more collectives are declared in the same way.
"""
import array
import ctypes
import sys

from mpi4py import MPI

FP64, SUM = 13, 1
pointer, number, status = ctypes.c_void_p, ctypes.c_int64, ctypes.c_int

tutti = ctypes.CDLL(sys.argv[1] if len(sys.argv) > 1 else "libtutti.so")
tutti.tutti_last_error.restype = ctypes.c_char_p
tutti.tutti_in_place.restype = pointer
tutti.tutti_comm_create_f.argtypes = [ctypes.c_int, pointer, ctypes.POINTER(pointer)]
tutti.tutti_comm_free.argtypes = [ctypes.POINTER(pointer)]
tutti.tutti_allreduce.argtypes = [pointer, pointer, number, ctypes.c_int, pointer, pointer, pointer]
tutti.tutti_allreduce_async.argtypes = tutti.tutti_allreduce.argtypes + [ctypes.POINTER(pointer)]
tutti.tutti_request_wait.argtypes = [ctypes.POINTER(pointer)]


def check(result):
    if result != 0:
        raise RuntimeError(tutti.tutti_last_error().decode())


def address(numbers):
    return numbers.buffer_info()[0]  # of a NumPy array: numbers.ctypes.data


def main():
    comm = pointer()
    # The number by which Fortran knows the communicator is the same for all languages.
    check(tutti.tutti_comm_create_f(MPI.COMM_WORLD.py2f(), None, ctypes.byref(comm)))

    mine = array.array("d", [i + MPI.COMM_WORLD.rank for i in range(5)])
    total = array.array("d", [0] * 5)
    check(tutti.tutti_allreduce(address(mine), address(total), len(mine), FP64, SUM, comm, None))

    request = pointer()  # nonblocking, in place; `total` must live until it is over
    check(tutti.tutti_allreduce_async(tutti.tutti_in_place(), address(total), len(total), FP64, SUM, comm, None,
                                      ctypes.byref(request)))
    check(tutti.tutti_request_wait(ctypes.byref(request)))

    try:
        check(tutti.tutti_allreduce(address(mine), None, len(mine), FP64, SUM, comm, None))
    except RuntimeError as error:
        if MPI.COMM_WORLD.rank == 0:
            print(f"an error as it should be: {error}")
    if MPI.COMM_WORLD.rank == 0:
        print(f"sum of sums {total.tolist()}")
    check(tutti.tutti_comm_free(ctypes.byref(comm)))


main()
