// Wrong arguments under handlers that return: what class the error has, how often the handler is called, and whether
// the communicator is of use afterwards.
#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "tests/interpose/verdicts/collectives.hpp"

namespace tutti::test {
namespace {

MPI_Datatype uncommitted = MPI_DATATYPE_NULL;

struct Fault {
  const char* name;
  void (*make)(Arguments& a, int ranks);
  bool (*concerns)(Collective which);
};

bool any(Collective /*which*/) { return true; }
bool moves_data(Collective which) { return which != Collective::Barrier; }
bool has_input(Collective which) { return moves_data(which) && which != Collective::Bcast; }
bool has_listed_input(Collective which) {
  return which == Collective::Scatterv || which == Collective::Alltoallv || which == Collective::Alltoallw;
}
bool has_listed_output(Collective which) { return is_listed(which) && which != Collective::Scatterv; }
bool has_output_type(Collective which) { return moves_data(which) && !is_reduction(which); }
bool has_input_type(Collective which) { return has_input(which); }

void set_in_type(Arguments& a, MPI_Datatype type) {
  a.in_type = type;
  std::ranges::fill(a.in_types, type);
}
void set_out_type(Arguments& a, MPI_Datatype type) {
  a.out_type = type;
  std::ranges::fill(a.out_types, type);
}

const std::array faults{
    Fault{"root_below_0", [](Arguments& a, int) { a.root = -1; }, has_root},
    Fault{"root_far_below_0", [](Arguments& a, int) { a.root = -77; }, has_root},
    Fault{"root_above_all", [](Arguments& a, int ranks) { a.root = ranks; }, has_root},
    Fault{"root_of_intercommunicators", [](Arguments& a, int) { a.root = MPI_ROOT; }, has_root},
    Fault{"root_nobody", [](Arguments& a, int) { a.root = MPI_PROC_NULL; }, has_root},
    Fault{"sent_below_0", [](Arguments& a, int) { a.in_count = -1; },
          [](Collective which) {
            return has_input(which) && !has_listed_input(which) && which != Collective::Reduce_scatter;
          }},
    Fault{"received_below_0", [](Arguments& a, int) { a.out_count = -1; },
          [](Collective which) { return has_output_type(which) && !has_listed_output(which); }},
    Fault{"listed_sent_below_0", [](Arguments& a, int) { a.in_counts.back() = -1; }, has_listed_input},
    Fault{"listed_received_below_0", [](Arguments& a, int) { a.out_counts.back() = -1; }, has_listed_output},
    Fault{"no_sent_type", [](Arguments& a, int) { set_in_type(a, MPI_DATATYPE_NULL); }, has_input_type},
    Fault{"no_received_type", [](Arguments& a, int) { set_out_type(a, MPI_DATATYPE_NULL); }, has_output_type},
    Fault{"uncommitted_sent", [](Arguments& a, int) { set_in_type(a, uncommitted); }, has_input_type},
    Fault{"uncommitted_received", [](Arguments& a, int) { set_out_type(a, uncommitted); }, has_output_type},
    Fault{"uncommitted_but_empty",
          [](Arguments& a, int) {
            set_out_type(a, uncommitted);
            set_in_type(a, uncommitted);
            a.in_count = a.out_count = 0;
            std::ranges::fill(a.in_counts, 0);
            std::ranges::fill(a.out_counts, 0);
          },
          moves_data},
    Fault{"no_operation", [](Arguments& a, int) { a.op = MPI_OP_NULL; }, is_reduction},
    Fault{"operation_of_pairs", [](Arguments& a, int) { a.op = MPI_MINLOC; }, is_reduction},
    Fault{"operation_of_bits_on_reals",
          [](Arguments& a, int) {
            a.op = MPI_BAND;
            a.in_type = MPI_FLOAT;
          },
          is_reduction},
    Fault{"operation_of_windows", [](Arguments& a, int) { a.op = MPI_REPLACE; }, is_reduction},
    Fault{"no_operation_of_windows", [](Arguments& a, int) { a.op = MPI_NO_OP; }, is_reduction},
    Fault{"operation_on_derived_type",
          [](Arguments& a, int) { MPI_Type_dup(MPI_2INT, &a.in_type), MPI_Type_commit(&a.in_type); }, is_reduction},
    Fault{"operation_on_bytes", [](Arguments& a, int) { a.in_type = MPI_BYTE; }, is_reduction},
    Fault{"operation_on_characters", [](Arguments& a, int) { a.in_type = MPI_CHAR; }, is_reduction},
    Fault{"sent_in_place", [](Arguments& a, int) { a.in = MPI_IN_PLACE; },
          [](Collective which) {
            return which == Collective::Scatter || which == Collective::Scatterv || which == Collective::Gather ||
                   which == Collective::Gatherv || which == Collective::Reduce;
          }},
    Fault{"received_in_place", [](Arguments& a, int) { a.out = MPI_IN_PLACE; }, moves_data},
    Fault{"both_in_place", [](Arguments& a, int) { a.in = a.out = MPI_IN_PLACE; }, has_input},
    Fault{"no_sent_buffer", [](Arguments& a, int) { a.in = nullptr; }, has_input},
    Fault{"no_received_buffer", [](Arguments& a, int) { a.out = nullptr; }, moves_data},
    Fault{"no_communicator", [](Arguments& a, int) { a.comm = MPI_COMM_NULL; }, any},
};

int times = 0;
MPI_Comm last = MPI_COMM_NULL;
// NOLINTNEXTLINE(cert-dcl50-cpp,readability-non-const-parameter): as MPI wants it
void note(MPI_Comm* comm, int* /*code*/, ...) {
  ++times;
  last = *comm;
}

/// A handler of the program, on the check's communicator and on the world, which gets the errors of no communicator.
class Noting {
 public:
  explicit Noting(MPI_Comm comm) : comm_(comm) {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(note, &handler);
    MPI_Comm_set_errhandler(comm_, handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Errhandler_free(&handler);
  }
  Noting(const Noting&) = delete;
  Noting& operator=(const Noting&) = delete;
  ~Noting() {
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  }
  void say(Check& check, int code) const {
    if (code == MPI_SUCCESS && times == 0) return;
    check.say("handler", std::to_string(times) + (last == comm_            ? " of it"
                                                  : last == MPI_COMM_WORLD ? " of the world"
                                                                           : ""));
  }

 private:
  MPI_Comm comm_;
};

void make(Check& check, Collective which, const Fault& fault, bool is_waited) {
  MPI_Type_contiguous(2, MPI_INT, &uncommitted);
  const auto a = std::make_unique<Arguments>(check.comm);
  fault.make(*a, check.ranks);
  {
    times = 0;
    const Noting noting{check.comm};
    const int code = is_waited ? waited(which, *a) : blocking(which, *a);
    check.code("code", code);
    noting.say(check, code);
  }
  check.works("later", check.comm);
  check.keeps_comm = true;
  MPI_Type_free(&uncommitted);
}

/// Arguments that are wrong on one rank alone. It leaves the call, for which others may wait: they get the same then.
void correct_after_wrong(Check& check, Collective which) {
  const auto a = std::make_unique<Arguments>(check.comm);
  if (check.rank == check.ranks - 1) {
    const int count = a->out_count;
    a->out_count = -1;
    check.code("wrong", blocking(which, *a));
    a->out_count = count;
  }
  check.result("right", blocking(which, *a), a->received);
  check.works("later", check.comm);
}

/// The text of an error's class is MPI's.
void text_of_class(Check& check) {
  const Arguments a{check.comm};
  const int code = MPI_Bcast(a.out, -1, MPI_INT, 0, check.comm);
  int error_class = MPI_SUCCESS, length = 0;
  MPI_Error_class(code, &error_class);
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  MPI_Error_string(error_class, text.data(), &length);
  check.say("text", text.data());
}

}  // namespace

void add_errors(Checks& checks) {
  for_all_collectives([&](Collective which) {
    for (const Fault& fault : faults) {
      if (!fault.concerns(which)) continue;
      const std::string name = std::string{name_of(which)} + "." + fault.name;
      checks.add(name, [which, &fault](Check& check) { make(check, which, fault, false); });
      checks.add(name + ".nonblocking", [which, &fault](Check& check) { make(check, which, fault, true); });
    }
  });
  for (const Collective which : {Collective::Bcast, Collective::Allgather, Collective::Alltoall, Collective::Scatter})
    checks.add(std::string{name_of(which)} + ".correct_after_wrong",
               [which](Check& check) { correct_after_wrong(check, which); });
  checks.add("text_of_class", text_of_class);
}

}  // namespace tutti::test
