#include <gtest/gtest.h>
#include "tutti/algorithm.hpp"
TEST(Registry, HasAlgorithms) { EXPECT_EQ(tutti::algorithms().size(), 3u); }
