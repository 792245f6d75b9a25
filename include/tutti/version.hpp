#pragma once
// The version, for programs and their preprocessors.

#include "tutti/version.h"
