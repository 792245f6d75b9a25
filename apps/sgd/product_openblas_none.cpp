#include "apps/sgd/product.hpp"

namespace tutti::sgd {

bool has_openblas() { return false; }
void multiply_by_openblas(const Product<float>& product) { multiply_in_order(product); }
void multiply_by_openblas(const Product<double>& product) { multiply_in_order(product); }

}  // namespace tutti::sgd
