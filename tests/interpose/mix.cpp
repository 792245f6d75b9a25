#include "tests/interpose/mix.hpp"

namespace tutti::test {
namespace {

constexpr int once = 7, again = 8, generalized_source = 5;

// MPI's own prototypes have no const.
// NOLINTBEGIN(readability-non-const-parameter)
void add(void* in, void* inout, int* length, MPI_Datatype* /*type*/) {
  for (int i = 0; i < *length; ++i)
    static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
}
// NOLINTEND(readability-non-const-parameter)

int tell_status(void* /*state*/, MPI_Status* status) {
  MPI_Status_set_elements(status, MPI_INT, 2);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = generalized_source;
  status->MPI_TAG = once;
  return MPI_SUCCESS;
}
int free_nothing(void* /*state*/) { return MPI_SUCCESS; }
int cancel_nothing(void* /*state*/, int /*is_complete*/) { return MPI_SUCCESS; }

/// The world in two halves.
void make_halves(MPI_Comm* half, MPI_Comm* inter) {
  const int size = size_of(), is_upper = rank_in() >= size / 2 ? 1 : 0;
  MPI_Comm_split(MPI_COMM_WORLD, is_upper, 0, half);
  if (size > 1) MPI_Intercomm_create(*half, 0, MPI_COMM_WORLD, is_upper != 0 ? 0 : size / 2, once, inter);
}

/// An operation and a type of the program are freed as soon as the calls that use them have begun.
void start_passed(const int* own, int* sum, MPI_Request* request) {
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(add, 1, &op);
  MPI_Iallreduce(own, sum, 1, MPI_INT, op, MPI_COMM_WORLD, request);
  MPI_Op_free(&op);
}
void start_column(int* data, MPI_Request* request) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(4, 1, 2, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Ibcast(data, 1, type, size_of() - 1, MPI_COMM_WORLD, request);
  MPI_Type_free(&type);
}

}  // namespace

Mix::Mix() {
  requests_.fill(MPI_REQUEST_NULL);
  make_halves(&half_, &inter_);
  own_.fill(rank_);
  sent_.fill(rank_);
  sent_again_.fill(100 + rank_);
  if (rank_ == size_ - 1) column_.fill(42);
  MPI_Iallreduce(own_.data(), sum_.data(), much, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests_[sum]);
  MPI_Irecv(received_.data(), 3, MPI_INT, left_, once, MPI_COMM_WORLD, &requests_[received]);
  start_passed(own_.data(), &product_, &requests_[passed]);
  MPI_Send_init(own_.data(), much, MPI_INT, right_, once, MPI_COMM_WORLD, &requests_[inactive]);
  MPI_Grequest_start(tell_status, free_nothing, cancel_nothing, nullptr, &generalized_);
  requests_[generalized] = generalized_;
  MPI_Ibarrier(MPI_COMM_WORLD, &requests_[barrier]);
  MPI_Recv_init(received_again_.data(), much, MPI_INT, left_, again, MPI_COMM_WORLD, &requests_[received_persistent]);
  MPI_Send_init(sent_again_.data(), much, MPI_INT, right_, again, MPI_COMM_WORLD, &requests_[sent_persistent]);
  std::array<MPI_Request, 2> persistent{requests_[received_persistent], requests_[sent_persistent]};
  MPI_Startall(2, persistent.data());
  MPI_Isend(sent_.data(), 3, MPI_INT, right_, once, MPI_COMM_WORLD, &requests_[sent]);
  start_column(column_.data(), &requests_[column]);
  if (has_between()) MPI_Ibarrier(inter_, &requests_[between]);
}

Mix::~Mix() {
  for (const std::size_t i : {inactive, received_persistent, sent_persistent})
    MPI_Request_free(&requests_[i]);
  if (has_between()) MPI_Comm_free(&inter_);
  MPI_Comm_free(&half_);
}

std::vector<bool> Mix::active() const {
  std::vector<bool> active(kinds, true);
  active[null] = active[inactive] = false;
  active[between] = has_between();
  return active;
}

void Mix::complete_generalized() { MPI_Grequest_complete(generalized_); }

void Mix::expect_status(std::size_t i, const MPI_Status& status) const {
  if (i != received && i != received_persistent && i != generalized) return;
  int integers = -1, is_cancelled = 1;
  MPI_Get_count(&status, MPI_INT, &integers);
  MPI_Test_cancelled(&status, &is_cancelled);
  EXPECT_EQ(integers, i == received ? 3 : i == generalized ? 2 : much) << "request " << i;
  EXPECT_EQ(status.MPI_SOURCE, i == generalized ? generalized_source : left_) << "request " << i;
  EXPECT_EQ(status.MPI_TAG, i == received_persistent ? again : once) << "request " << i;
  EXPECT_EQ(is_cancelled, 0) << "request " << i;
}

void Mix::expect_over() {
  for (std::size_t i = 0; i < kinds; ++i) {
    const bool is_kept = i == inactive || i == received_persistent || i == sent_persistent;
    EXPECT_EQ(requests_[i] != MPI_REQUEST_NULL, is_kept) << "request " << i;
  }
  const int expected = sum_of_ranks(size_);
  EXPECT_EQ(sum_, (std::array<int, much>{expected, expected, expected, expected, expected}));
  EXPECT_EQ(product_, expected);
  EXPECT_EQ(received_, (std::array<int, 3>{left_, left_, left_}));
  EXPECT_EQ(received_again_[much - 1], 100 + left_);
  const int gap = rank_ == size_ - 1 ? 42 : 0;
  EXPECT_EQ(column_, (std::array<int, 8>{42, gap, 42, gap, 42, gap, 42, gap}));
}

}  // namespace tutti::test
