#pragma once
// The version, for programs and their preprocessors. CMakeLists.txt has it too, as CMake reads that before it looks for
// anything: readme_test compares the two.
#define TUTTI_VERSION_MAJOR 0
#define TUTTI_VERSION_MINOR 2
#define TUTTI_VERSION_PATCH 0
#define TUTTI_VERSION "0.2.0"
