// A program whose arguments say which objects with static storage it makes, in order: they are destroyed in the
// opposite order, after main.
//   env       ends MPI when it is destroyed
//   comm      a communicator; the objects behind need it
//   plan, request, buffer, batch    of that communicator; the request is one under way
//   caller    makes a communicator when it is destroyed, and calls; after MPI_Finalize it has to be refused
//   callback  is none: at MPI_Finalize, in a callback of an attribute of MPI_COMM_SELF, a communicator is made and
//   called
// "done" is printed after the last of them.
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <vector>

#include "tutti/tutti.hpp"

namespace {

void require(bool is_right, const char* what) {
  if (is_right) return;
  std::fprintf(stderr, "FAILED: %s\n", what);
  std::fflush(nullptr);
  _exit(1);
}

bool is_finalized() {
  int is = 0;
  MPI_Finalized(&is);
  return is != 0;
}

void call(const tutti::Communicator& comm) {
  std::vector<int> data(100, 1);
  tutti::allreduce(data, tutti::Op::sum, comm);
  require(data.front() == comm.size() && data.back() == comm.size(), "a wrong sum");
}

int calls_in_callback(MPI_Comm /*self*/, int /*key*/, void* /*value*/, void* /*extra*/) {
  call(tutti::Communicator{MPI_COMM_WORLD});
  return MPI_SUCCESS;
}

void add_callback() {
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, calls_in_callback, &key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
  MPI_Comm_free_keyval(&key);
}

struct Environment {
  ~Environment() { MPI_Finalize(); }
};

struct Caller {
  ~Caller() {
    try {
      call(tutti::Communicator{MPI_COMM_WORLD});
      require(!is_finalized(), "a communicator was made after MPI_Finalize");
    } catch (const tutti::StateError& error) {
      require(is_finalized() && std::string_view{error.what()}.find("MPI_Finalize") != std::string_view::npos,
              error.what());
    }
  }
};

struct Last {
  ~Last() { std::printf("done\n"); }
};

std::vector<float>& data() {
  static auto& all = *new std::vector<float>(1000, 1.0F);
  return all;
}

/// Each kind once.
void make(std::string_view kind) {
  static const tutti::Communicator* comm = nullptr;
  if (kind == "env") {
    static const Environment environment;
  } else if (kind == "comm") {
    static const tutti::Communicator made{MPI_COMM_WORLD};
    comm = &made;
    call(made);
  } else if (kind == "plan") {
    static tutti::Plan plan = tutti::plan_allreduce(std::span{data()}, tutti::Op::max, *comm);
    plan.start();
    plan.wait();
  } else if (kind == "request") {
    static const tutti::Request request = tutti::allreduce_async(std::span{data()}, tutti::Op::max, *comm);
  } else if (kind == "buffer") {
    static const tutti::SharedBuffer<float> buffer{1000};
    tutti::allreduce(buffer.span(), tutti::Op::max, *comm);
  } else if (kind == "batch") {
    static const tutti::Batch batch{*comm};
    batch.run();
  } else if (kind == "caller") {
    static const Caller caller;
  } else if (kind == "callback") {
    add_callback();
  } else {
    require(false, "no object of that name");
  }
}

}  // namespace

int main(int argc, char** argv) {
  static const Last last;
  MPI_Init(&argc, &argv);
  for (int i = 1; i < argc; ++i)
    make(argv[i]);
}
