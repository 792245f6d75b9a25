#pragma once
// What the shared library exports: all else in it is hidden. Members are marked one by one, as a class that is visible
// may have no hidden ones as members; only what is thrown is marked as a whole, for its type to be the same everywhere.
#define TUTTI_API [[gnu::visibility("default")]]
