// Datatypes of all shapes, sent and received by every collective that moves data.
#include <array>
#include <memory>
#include <string>
#include <utility>

#include "tests/interpose/verdicts/collectives.hpp"

namespace tutti::test {
namespace {

MPI_Datatype resized(MPI_Datatype type, MPI_Aint lower, MPI_Aint extent) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(type, lower, extent, &made);
  return made;
}

MPI_Datatype contiguous(int count, MPI_Datatype type) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(count, type, &made);
  return made;
}

MPI_Datatype vector(int count, int length, int stride, MPI_Datatype type = MPI_INT) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_vector(count, length, stride, type, &made);
  return made;
}

template <std::size_t n>
MPI_Datatype structure(const std::array<int, n>& lengths, const std::array<MPI_Aint, n>& places,
                       const std::array<MPI_Datatype, n>& types) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(static_cast<int>(n), lengths.data(), places.data(), types.data(), &made);
  return made;
}

MPI_Datatype indexed(const std::array<int, 3>& lengths, const std::array<int, 3>& places) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_indexed(3, lengths.data(), places.data(), MPI_INT, &made);
  return made;
}

MPI_Datatype subarray(int order) {
  const std::array sizes{4, 5}, parts{2, 3}, starts{1, 1};
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_create_subarray(2, sizes.data(), parts.data(), starts.data(), order, MPI_INT, &made);
  return made;
}

MPI_Datatype darray() {
  const std::array sizes{6}, kinds{MPI_DISTRIBUTE_CYCLIC}, arguments{1}, processes{2};
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_create_darray(2, 1, 1, sizes.data(), kinds.data(), arguments.data(), processes.data(), MPI_ORDER_C, MPI_INT,
                         &made);
  return made;
}

MPI_Datatype duplicate(MPI_Datatype type) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_dup(type, &made);
  return made;
}

MPI_Datatype named() {
  MPI_Datatype made = contiguous(2, MPI_INT);
  MPI_Type_set_name(made, "two integers");
  return made;
}

MPI_Datatype of_fortran(bool is_real) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  if (is_real)
    MPI_Type_create_f90_real(15, 300, &made);
  else
    MPI_Type_create_f90_integer(9, &made);
  return made;
}

MPI_Datatype of_size(int type_class, int size) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_match_size(type_class, size, &made);
  return made;
}

struct Shape {
  const char* name;
  MPI_Datatype (*make)();
  bool is_predefined = false;
  /// Neighbouring elements share bytes: it may not be received.
  bool overlaps = false;
};

const std::array shapes{
    Shape{"vector", [] { return vector(3, 1, 2); }},
    Shape{"backward_vector", [] { return vector(3, 1, -2); }},
    Shape{"backward_whole_vector", [] { return vector(3, 1, -1); }},
    Shape{"vector_of_vectors", [] { return vector(2, 1, 3, vector(2, 1, 2)); }},
    Shape{"negative_lower_bound", [] { return resized(contiguous(2, MPI_INT), -8, 24); }},
    Shape{"lower_bound_without_gaps", [] { return resized(MPI_INT, -4, 4); }},
    Shape{"positive_lower_bound", [] { return resized(MPI_INT, 4, 8); }},
    Shape{"negative_extent", [] { return resized(contiguous(2, MPI_INT), 0, -8); }},
    Shape{"gap_at_the_end", [] { return resized(contiguous(3, MPI_CHAR), 0, 5); }},
    Shape{"extent_below_size", [] { return resized(vector(2, 1, 16), 0, 4); }},
    Shape{"zero_extent", [] { return resized(contiguous(2, MPI_INT), 0, 0); }, false, true},
    Shape{"zero_size", [] { return contiguous(0, MPI_INT); }},
    Shape{"zero_size_with_extent", [] { return resized(contiguous(0, MPI_INT), 0, 16); }},
    Shape{"empty_struct", [] { return structure<1>({0}, {8}, {MPI_DOUBLE}); }},
    Shape{"struct",
          [] {
            return structure<3>({1, 2, 1}, {0, 8, 4}, {MPI_DOUBLE, MPI_CHAR, MPI_CHAR});
          }},
    Shape{"struct_with_padding",
          [] {
            return structure<2>({1, 1}, {0, 8}, {MPI_CHAR, MPI_DOUBLE});
          }},
    Shape{"struct_of_empty_parts",
          [] {
            return structure<3>({0, 1, 0}, {-64, 0, 64}, {MPI_INT, MPI_INT, MPI_INT});
          }},
    Shape{"negative_places",
          [] {
            return structure<2>({1, 1}, {-12, 4}, {MPI_INT, MPI_INT});
          }},
    Shape{"indexed",
          [] {
            return indexed({1, 0, 2}, {3, 9, 0});
          }},
    Shape{"indexed_in_any_order",
          [] {
            return indexed({1, 1, 1}, {2, 0, 1});
          }},
    Shape{"subarray", [] { return subarray(MPI_ORDER_C); }},
    Shape{"subarray_of_fortran", [] { return subarray(MPI_ORDER_FORTRAN); }},
    Shape{"darray", darray},
    Shape{"duplicate", [] { return duplicate(MPI_INT); }},
    Shape{"duplicate_of_duplicate", [] { return duplicate(duplicate(vector(2, 1, 2))); }},
    Shape{"named", named},
    Shape{"pair_with_gap", [] { return MPI_DOUBLE_INT; }, true},
    Shape{"short_pair", [] { return MPI_SHORT_INT; }, true},
    Shape{"pairs", [] { return contiguous(2, MPI_DOUBLE_INT); }},
    Shape{"fortran_real", [] { return of_fortran(true); }, true},
    Shape{"fortran_integer", [] { return of_fortran(false); }, true},
    Shape{"integer_of_size", [] { return of_size(MPI_TYPECLASS_INTEGER, 8); }, true},
    Shape{"real_of_size", [] { return of_size(MPI_TYPECLASS_REAL, 4); }, true},
    Shape{"packed", [] { return MPI_PACKED; }, true},
    Shape{"wide_characters", [] { return MPI_WCHAR; }, true},
};

/// Two elements of the type on one side; on the other the same, or their bytes.
void fill(Arguments& a, MPI_Datatype in, MPI_Datatype out, int in_count, int out_count, int ranks) {
  a.in_type = in;
  a.out_type = out;
  a.in_count = in_count;
  a.out_count = out_count;
  MPI_Aint lower = 0, in_extent = 0, out_extent = 0;
  MPI_Type_get_extent(in, &lower, &in_extent);
  MPI_Type_get_extent(out, &lower, &out_extent);
  for (int i = 0; i < ranks; ++i) {
    const auto at = static_cast<std::size_t>(i);
    a.in_counts[at] = in_count;
    a.out_counts[at] = out_count;
    a.in_places[at] = i * in_count;
    a.out_places[at] = (ranks - 1 - i) * out_count;
    a.in_bytes[at] = static_cast<int>(a.in_places[at] * in_extent);
    a.out_bytes[at] = static_cast<int>(a.out_places[at] * out_extent);
    a.in_types[at] = in;
    a.out_types[at] = out;
  }
}

void move(Check& check, MPI_Datatype in, MPI_Datatype out, int in_count, int out_count) {
  for_all_collectives([&](Collective which) {
    if (is_reduction(which) || which == Collective::Barrier) return;
    if (which == Collective::Bcast && in != out) return;
    const auto a = std::make_unique<Arguments>(check.comm);
    fill(*a, in, out, in_count, out_count, check.ranks);
    check.result(name_of(which), blocking(which, *a), a->received);
    fill(*a, in, out, in_count, out_count, check.ranks);
    check.result(std::string{"I"} + name_of(which), waited(which, *a), a->received);
  });
}

void move_shape(Check& check, const Shape& shape, bool is_sent, bool is_received) {
  MPI_Datatype type = shape.make();
  if (!shape.is_predefined) MPI_Type_commit(&type);
  int size = 0;
  MPI_Type_size(type, &size);
  // Packed data have any type's signature, for the receiver as for the sender.
  move(check, is_sent ? type : MPI_PACKED, is_received ? type : MPI_PACKED, is_sent ? 2 : 2 * size,
       is_received ? 2 : 2 * size);
  if (!shape.is_predefined) MPI_Type_free(&type);
}

void name_is_kept(Check& check) {
  MPI_Datatype type = named(), copy = MPI_DATATYPE_NULL;
  MPI_Type_commit(&type);
  const Arguments a{check.comm};
  check.code("Bcast", MPI_Bcast(a.out, 2, type, 0, check.comm));
  MPI_Type_dup(type, &copy);
  for (const MPI_Datatype one : {type, copy}) {
    std::array<char, MPI_MAX_OBJECT_NAME> text{};
    int length = 0;
    MPI_Type_get_name(one, text.data(), &length);
    check.say("name", text.data());
  }
  MPI_Type_free(&type);
  MPI_Type_free(&copy);
}

/// What the library keeps with a type is nobody else's: callbacks of the program run as often as ever.
int copies = 0, deletes = 0;
int copy_value(MPI_Datatype /*type*/, int /*key*/, void* /*extra*/, void* value, void* copy, int* flag) {
  ++copies;
  *static_cast<void**>(copy) = value;
  *flag = 1;
  return MPI_SUCCESS;
}
int delete_value(MPI_Datatype /*type*/, int /*key*/, void* /*value*/, void* /*extra*/) {
  ++deletes;
  return MPI_SUCCESS;
}

void attributes_are_kept(Check& check) {
  copies = deletes = 0;
  int key = MPI_KEYVAL_INVALID, is_there = 0;
  MPI_Type_create_keyval(copy_value, delete_value, &key, nullptr);
  MPI_Datatype type = vector(2, 1, 2), copy = MPI_DATATYPE_NULL;
  MPI_Type_commit(&type);
  MPI_Type_set_attr(type, key, &copies);
  Arguments a{check.comm};
  check.result("Bcast", MPI_Bcast(a.out, 2, type, 0, check.comm), a.received);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibcast(a.out, 2, type, 0, check.comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Type_dup(type, &copy);
  check.number("copies", copies);
  check.result("Bcast of the copy", MPI_Bcast(a.out, 2, copy, 0, check.comm), a.received);
  void* value = nullptr;
  MPI_Type_get_attr(copy, key, static_cast<void*>(&value), &is_there);
  check.number("is there", is_there);
  MPI_Type_free(&type);
  MPI_Type_free(&copy);
  check.number("deletes", deletes);
  MPI_Type_free_keyval(&key);
}

/// A handle that MPI uses again means the new type.
void handles_used_again(Check& check) {
  for (int stride = 1; stride < 6; ++stride) {
    MPI_Datatype type = vector(3, 1, stride);
    MPI_Type_commit(&type);
    Arguments a{check.comm};
    check.result("Bcast", MPI_Bcast(a.out, 2, type, check.ranks - 1, check.comm), a.received);
    MPI_Type_free(&type);
  }
}

}  // namespace

void add_datatypes(Checks& checks) {
  for (const Shape& shape : shapes) {
    const std::string name = shape.name;
    checks.add(name + ".sent", [&shape](Check& check) { move_shape(check, shape, true, false); });
    if (shape.overlaps) continue;
    checks.add(name + ".received", [&shape](Check& check) { move_shape(check, shape, false, true); });
    checks.add(name + ".both", [&shape](Check& check) { move_shape(check, shape, true, true); });
  }
  checks.add("name", name_is_kept);
  checks.add("attributes", attributes_are_kept);
  checks.add("handles_used_again", handles_used_again);
}

}  // namespace tutti::test
