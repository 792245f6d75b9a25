// A program that needs no MPI: schedules alone.
#include <cstdio>

#include "tutti/algorithm.hpp"

int main() { std::printf("%zu algorithms\n", tutti::algorithms().size()); }
