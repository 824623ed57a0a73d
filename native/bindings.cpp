// The compiled module.
#include "bindings.hpp"
#include "order_rows.hpp"
#include "threads.hpp"
#include "vector_ops.hpp"

namespace cgens {
namespace {

template <class T>
auto order_rows_of(const Matrix<T>& X, const CMatrix<double>& target, const Vector<double>& weights, int n_threads) {
    require(X.shape(0) == target.shape(0) && X.shape(0) == weights.shape(0), "order_rows: lengths differ");
    for (std::size_t i = 0; i < weights.shape(0); ++i)
        require(weights(i) >= 0 && std::isfinite(weights(i)), "order_rows: weights must be finite and >= 0");
    const RowOrder order =
        without_gil([&] { return order_rows(view<T>(X), view<double>(target), weights.data(), n_threads); });
    return std::make_tuple(to_array(order.rows), to_array(order.weights), to_array(order.position));
}

}  // namespace
}  // namespace cgens

NB_MODULE(_core, m) {
    using namespace cgens;
    m.doc() = "The compiled core of cgens. Private: the Python code that calls it keeps its contracts.";
    nb::set_leak_warnings(false);  // a fitted model may exist until the interpreter exits
    bind_masters(m);
    bind_stumps(m);
    bind_families(m);

    m.def("order_rows", &order_rows_of<float>, "X"_array, "target"_array, "weights"_array, "n_threads"_a,
          "Sort the rows into canonical order and merge identical ones. Returns (rows, weights, position).");
    m.def("order_rows", &order_rows_of<double>, "X"_array, "target"_array, "weights"_array, "n_threads"_a);

    m.def("default_threads", &default_threads, "Return the number of threads that OpenMP uses by default.");
    m.def("usable_threads", nb::overload_cast<int>(&usable_threads), "requested"_a,
          "Return `requested`, or 1 in a forked child.");
    m.def("simd_level", [] { return std::string(vector_ops().name); }, "Return the SIMD level in use.");
    m.def("simd_levels", &vector_ops_names, "Return the SIMD levels that this processor supports, slowest first.");
    m.def("force_simd_level", &force_vector_ops, "name"_a, "Use this SIMD level from now on; '' for the best.");
}
