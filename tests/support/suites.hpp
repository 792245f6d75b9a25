#pragma once
// A folder's tests are one program; CTest runs it once for each of its suites, which is a source file or a few.

namespace tutti::test {

/// Takes --suite=NAME,NAME,... from the command line, names of source files without their ends: of the tests that
/// --gtest_filter chooses, only those in these files run. Call it after testing::InitGoogleTest. Ends the program with
/// exit code 2 if there is no such test, as a name that was misspelt would pass.
void select_suites(int& argc, char** argv);

}  // namespace tutti::test
