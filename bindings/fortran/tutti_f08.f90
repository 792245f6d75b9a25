! The module tutti for programs that use mpi_f08: tutti_comm_create also takes a type(MPI_Comm).
module tutti_f08
  use mpi_f08, only: MPI_Comm
  use tutti
  implicit none
  public
  private :: comm_create_f08, MPI_Comm

  interface tutti_comm_create
    module procedure comm_create_f08
  end interface

contains

  subroutine comm_create_f08(parent, comm, algorithms, transport, buffers, forms_match, rules, ierror, bits)
    type(MPI_Comm), intent(in) :: parent
    type(tutti_comm), intent(out) :: comm
    character(*), intent(in), optional :: algorithms, transport, buffers, rules, bits
    logical, intent(in), optional :: forms_match
    integer, intent(out), optional :: ierror
    call tutti_comm_create(parent%MPI_VAL, comm, algorithms, transport, buffers, forms_match, rules, ierror, bits)
  end subroutine

end module
