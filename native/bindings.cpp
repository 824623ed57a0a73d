// The compiled module.
#include "bindings.hpp"
#include "order_rows.hpp"
#include "threads.hpp"
#include "vector_ops.hpp"

namespace cgens {
namespace {

template <class View>
auto order_view(const View& X, const CMatrix<double>& target, const Vector<double>& weights, int n_threads) {
    require(X.n_rows == target.shape(0) && X.n_rows == weights.shape(0), "order_rows: lengths differ");
    for (std::size_t i = 0; i < weights.shape(0); ++i)
        require(weights(i) >= 0 && std::isfinite(weights(i)), "order_rows: weights must be finite and >= 0");
    RowOrder order = without_gil([&] { return order_rows(X, view<double>(target), weights.data(), n_threads); });
    return std::make_tuple(to_array(std::move(order.rows)), to_array(std::move(order.weights)),
                           to_array(std::move(order.position)));
}

template <class T>
auto order_rows_of(const Matrix<T>& X, const CMatrix<double>& target, const Vector<double>& weights, int n_threads) {
    return order_view(view<T>(X), target, weights, n_threads);
}

template <class T>
auto order_sparse_rows(const Vector<T>& data, const Vector<std::int32_t>& indices, const Vector<std::int64_t>& begin,
                       std::size_t n_columns, const CMatrix<double>& target, const Vector<double>& weights,
                       int n_threads) {
    require_compressed(data, indices, begin, n_columns);
    const SparseView<T> X{data.data(), begin.data(), indices.data(), begin.shape(0) - 1, n_columns};
    return order_view(X, target, weights, n_threads);
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
    bind_cosines(m);
    bind_loss_rows(m);

    m.def("order_rows", &order_rows_of<float>, "X"_array, "target"_array, "weights"_array, "n_threads"_a,
          "Sort the rows into canonical order and merge identical ones. Returns (rows, weights, position).");
    m.def("order_rows", &order_rows_of<double>, "X"_array, "target"_array, "weights"_array, "n_threads"_a);
    m.def("order_sparse_rows", &order_sparse_rows<float>, "data"_array, "indices"_array, "begin"_array, "n_columns"_a,
          "target"_array, "weights"_array, "n_threads"_a, "The same for compressed sparse rows.");
    m.def("order_sparse_rows", &order_sparse_rows<double>, "data"_array, "indices"_array, "begin"_array, "n_columns"_a,
          "target"_array, "weights"_array, "n_threads"_a);

    m.def("simd_level", [] { return std::string(vector_ops().name); }, "Return the SIMD level in use.");
    m.def("simd_levels", &vector_ops_names, "Return the SIMD levels that this processor supports, slowest first.");
    m.def("prepare_threads", &prepare_threads, "n_threads"_a, nb::call_guard<nb::gil_scoped_release>(),
          "Start the threads that calls with `n_threads` need.");
    m.def("force_work_per_thread",
          [](double work) {
              require(work > 0, "force_work_per_thread: work must be > 0");
              force_work_per_thread(work);
          },
          "work"_a, "For tests: give each thread at least this much work, in nanoseconds, roughly.");
    m.def("force_simd_level", &force_vector_ops, "name"_a, "Use this SIMD level from now on; '' for the best.");
}
