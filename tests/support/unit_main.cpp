// Runs tests without MPI.
#include <gmock/gmock.h>

#include "tests/support/suites.hpp"

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  tutti::test::select_suites(argc, argv);
  return RUN_ALL_TESTS();
}
