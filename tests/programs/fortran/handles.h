! How a binding declares handles; the sources are the same for all three.
#ifdef USE_MPI_F08
#define COMM_HANDLE type(MPI_Comm)
#define TYPE_HANDLE type(MPI_Datatype)
#define OP_HANDLE type(MPI_Op)
#define REQUEST_HANDLE type(MPI_Request)
#define STATUS_LIST(count) type(MPI_Status), dimension(count)
#define STATUS_AT(list, index) list(index)
#define SOURCE_OF(list, index) list(index)%MPI_SOURCE
#else
#define COMM_HANDLE integer
#define TYPE_HANDLE integer
#define OP_HANDLE integer
#define REQUEST_HANDLE integer
#define STATUS_LIST(count) integer, dimension(MPI_STATUS_SIZE, count)
#define STATUS_AT(list, index) list(:, index)
#define SOURCE_OF(list, index) list(MPI_SOURCE, index)
#endif
