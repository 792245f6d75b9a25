#pragma once
// The allocations of a program that is linked with counted_allocations.cpp: every form of operator new counts them.

#include <atomic>

namespace tutti::test {

/// Counts the allocations of all threads, while it is on.
struct AllocationCount {
  static std::atomic<bool> is_on;
  static std::atomic<long> count;
  /// Says of an allocation, in its thread, that it is not the library's. nullptr: they all are.
  static int (*is_foreign)();
};

/// The allocations that `repeat` makes.
template <class Repeat>
long allocations_of(Repeat repeat) {
  AllocationCount::count = 0;
  AllocationCount::is_on = true;
  repeat();
  AllocationCount::is_on = false;
  return AllocationCount::count;
}

}  // namespace tutti::test
