#pragma once
// Everything that programs need.

#include "tutti/allreduce.hpp"
#include "tutti/communicator.hpp"
#include "tutti/datatype.hpp"
#include "tutti/environment.hpp"
#include "tutti/error.hpp"
#include "tutti/op.hpp"
#include "tutti/request.hpp"
#include "tutti/types.hpp"
#include "tutti/version.hpp"
