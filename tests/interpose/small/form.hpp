#pragma once
// Tests of functions whose counts have 32 bits.
using N = int;
using D = int;
// NOLINTNEXTLINE(bugprone-macro-parentheses): a name
#define FORM(name) name
