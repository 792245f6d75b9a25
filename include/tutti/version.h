#pragma once
// The version, for programs in C and C++ and their preprocessors. CMakeLists.txt states it too, as CMake needs it before
// it looks for anything else: readme_test compares the two.
#define TUTTI_VERSION_MAJOR 0
#define TUTTI_VERSION_MINOR 2
#define TUTTI_VERSION_PATCH 0
#define TUTTI_VERSION "0.2.0"
