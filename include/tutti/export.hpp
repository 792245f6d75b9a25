#pragma once
// The mark of symbols that the shared library exports; all others are hidden. Members are marked one by one, as a
// visible class may have no hidden members. Only thrown classes are marked as a whole, so that their type is the same
// everywhere.
#define TUTTI_API [[gnu::visibility("default")]]
