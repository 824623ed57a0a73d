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
    RowOrder order;
    {
        nb::gil_scoped_release released;
        order = order_rows(view<T>(X), view<double>(target), weights.data(), n_threads);
    }
    return std::make_tuple(new_array(order.rows.data(), order.rows.size()),
                           new_array(order.weights.data(), order.weights.size()),
                           new_array(order.position.data(), order.position.size()));
}

}  // namespace
}  // namespace cgens

NB_MODULE(_core, m) {
    using namespace cgens;
    m.doc() = "The compiled core of cgens. Private: its contracts are kept by the Python that calls it.";
    nb::set_leak_warnings(false);  // a fitted model may live until the interpreter ends
    bind_masters(m);
    bind_stumps(m);
    bind_families(m);

    m.def("order_rows", &order_rows_of<float>, "X"_a.noconvert(), "target"_a.noconvert(), "weights"_a.noconvert(),
          "n_threads"_a, "Canonical order of the rows. Returns (rows, weights, position).");
    m.def("order_rows", &order_rows_of<double>, "X"_a.noconvert(), "target"_a.noconvert(), "weights"_a.noconvert(),
          "n_threads"_a);

    m.def("default_threads", &default_threads, "Threads that OpenMP would use.");
    m.def("usable_threads", nb::overload_cast<int>(&usable_threads), "requested"_a, "1 in a forked child, else `requested`.");
    m.def("simd_level", [] { return std::string(vector_ops().name); }, "The SIMD level in use.");
    m.def("simd_levels", &vector_ops_names, "The SIMD levels this processor has, slowest first.");
    m.def("force_simd_level", &force_vector_ops, "name"_a, "Use one level from now on; '' for the best.");
}
