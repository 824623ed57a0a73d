// The seam: NumPy arrays in, NumPy arrays out. The only file that knows Python.
//
// Arrays are borrowed for one call and never converted (`noconvert`): a wrong dtype is an error, not a copy. The GIL
// is released while C++ works. C++ throws only where its caller broke the contract; users' mistakes are refused in
// Python, with a sentence.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "dual_cd.hpp"
#include "order_rows.hpp"
#include "respond_stumps.hpp"
#include "scan_stumps.hpp"
#include "threads.hpp"
#include "vector_ops.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace cgens {
namespace {

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;
template <class T>
using CMatrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using NewArray = nb::ndarray<nb::numpy, T>;

void require(bool kept, const char* contract) {
    if (!kept) throw std::invalid_argument(contract);
}

template <class T, class Array>
MatrixView<T> view(const Array& matrix) {
    return {matrix.data(), matrix.shape(0), matrix.shape(1), static_cast<std::ptrdiff_t>(matrix.stride(0)),
            static_cast<std::ptrdiff_t>(matrix.stride(1))};
}

// A NumPy array that owns a copy of `size` numbers, or zeros where `data` is null.
template <class T>
NewArray<T> new_array(const T* data, std::size_t size) {
    T* owned = new T[size]();
    nb::capsule owner(owned, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    if (data != nullptr) std::copy(data, data + size, owned);
    return NewArray<T>(owned, {size}, owner);
}

template <class T>
std::vector<T> to_vector(const Vector<T>& array) {
    return {array.data(), array.data() + array.shape(0)};
}

const char* status_name(SolveStatus status) {
    switch (status) {
        case SolveStatus::kConverged:
            return "converged";
        case SolveStatus::kMaxSweeps:
            return "max_sweeps";
        default:
            return "interrupted";
    }
}

// `interrupted` takes the GIL back by itself, for as long as it is asked.
auto solve(DualCd& self, double tol, std::int64_t max_sweeps, const std::function<bool()>& interrupted) {
    SolveReport report;
    {
        nb::gil_scoped_release released;
        report = self.solve(tol, max_sweeps, interrupted);
    }
    return std::make_tuple(report.primal, report.dual, report.n_sweeps, std::string(status_name(report.status)));
}

template <class T>
void add_column(DualCd& self, const Vector<T>& column) {
    require(column.shape(0) == self.n_rows(), "add: one response per row");
    self.add_column(column.data());
}

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

template <class T>
void construct_scan(StumpScan* self, const Matrix<T>& X, const Vector<std::int64_t>& rows,
                    const Vector<double>& weights, std::size_t max_bins, int n_threads) {
    require(rows.shape(0) == weights.shape(0), "StumpScan: one weight per row");
    require(rows.shape(0) > 0 && X.shape(1) > 0, "StumpScan: an empty table");
    require(max_bins >= 2, "StumpScan: max_bins >= 2");
    for (std::size_t i = 0; i < rows.shape(0); ++i)
        require(rows(i) >= 0 && static_cast<std::size_t>(rows(i)) < X.shape(0), "StumpScan: no such row of X");
    nb::gil_scoped_release released;
    new (self) StumpScan(bin_features(view<T>(X), rows.data(), weights.data(), rows.shape(0), max_bins, n_threads),
                         n_threads);
}

auto price(StumpScan& self, const Vector<double>& duals) {
    require(duals.shape(0) == self.n_rows(), "price: one dual per row");
    for (std::size_t i = 0; i < duals.shape(0); ++i) require(std::isfinite(duals(i)), "price: duals must be finite");
    StumpPrice best;
    {
        nb::gil_scoped_release released;
        best = self.price(duals.data());
    }
    return std::make_tuple(best.found, best.feature, best.threshold, best.price, best.energy);
}

NewArray<std::int8_t> respond_training(const StumpScan& self, std::size_t feature, double threshold) {
    require(feature < self.n_features(), "respond: no such feature");
    auto out = new_array<std::int8_t>(nullptr, self.n_rows());
    nb::gil_scoped_release released;
    self.respond(feature, threshold, out.data());
    return out;
}

void require_features(const Vector<std::int64_t>& features, std::size_t n_features) {
    for (std::size_t j = 0; j < features.shape(0); ++j)
        require(features(j) >= 0 && static_cast<std::size_t>(features(j)) < n_features, "no such feature of X");
}

template <class T>
NewArray<std::int8_t> respond(const Matrix<T>& X, const Vector<std::int64_t>& features,
                              const Vector<double>& thresholds, int n_threads) {
    require(features.shape(0) == thresholds.shape(0), "respond_stumps: lengths differ");
    require_features(features, X.shape(1));
    auto out = new_array<std::int8_t>(nullptr, X.shape(0) * features.shape(0));
    nb::gil_scoped_release released;
    respond_stumps(view<T>(X), features.data(), thresholds.data(), features.shape(0), out.data(), n_threads);
    return out;
}

template <class T>
NewArray<double> decide(const StepTables& self, const Matrix<T>& X, int n_threads) {
    require(X.shape(1) >= self.n_inputs(), "decide: X has too few columns");
    auto out = new_array<double>(nullptr, X.shape(0) * self.n_outputs());
    nb::gil_scoped_release released;
    self.add_decision(view<T>(X), out.data(), n_threads);
    return out;
}

}  // namespace
}  // namespace cgens

NB_MODULE(_core, m) {
    using namespace cgens;
    m.doc() = "The compiled core of cgens. Private: its contracts are kept by the Python that calls it.";

    nb::class_<DualCd>(m, "DualCd", "Box-constrained dual coordinate descent with a free bias.")
        .def(
            "__init__",
            [](DualCd* self, const Vector<double>& linear, const Vector<double>& lower, const Vector<double>& upper,
               int n_threads) {
                require(linear.shape(0) > 0, "DualCd: no rows");
                require(linear.shape(0) == lower.shape(0) && linear.shape(0) == upper.shape(0),
                        "DualCd: lengths differ");
                for (std::size_t i = 0; i < linear.shape(0); ++i)
                    require(std::isfinite(linear(i)) && std::isfinite(upper(i) - lower(i)) && lower(i) <= 0 &&
                                upper(i) >= 0,
                            "DualCd: finite numbers, lower <= 0 <= upper");
                new (self) DualCd(to_vector(linear), to_vector(lower), to_vector(upper), n_threads);
            },
            "linear"_a.noconvert(), "lower"_a.noconvert(), "upper"_a.noconvert(), "n_threads"_a)
        .def("add", &add_column<std::int8_t>, "column"_a.noconvert(), "Add one column of responses.")
        .def("add", &add_column<float>, "column"_a.noconvert())
        .def("add", &add_column<double>, "column"_a.noconvert())
        .def("solve", &solve, "tol"_a, "max_sweeps"_a, "interrupted"_a,
             "Descend to a relative gap of tol. Returns (primal, dual, n_sweeps, status).")
        .def("duals", [](const DualCd& self) { return new_array(self.duals().data(), self.n_rows()); },
             "A copy of the signed duals, one per row.")
        .def("weights", [](const DualCd& self) { return new_array(self.weights(), self.n_columns()); },
             "A copy of the weights, one per column.")
        .def_prop_ro("bias", &DualCd::bias);

    m.def("order_rows", &order_rows_of<float>, "X"_a.noconvert(), "target"_a.noconvert(), "weights"_a.noconvert(),
          "n_threads"_a, "Canonical order of the rows. Returns (rows, weights, position).");
    m.def("order_rows", &order_rows_of<double>, "X"_a.noconvert(), "target"_a.noconvert(), "weights"_a.noconvert(),
          "n_threads"_a);

    nb::class_<StumpScan>(m, "StumpScan", "The training table in bins, and the search for the best stump.")
        .def("__init__", &construct_scan<float>, "X"_a.noconvert(), "rows"_a.noconvert(), "weights"_a.noconvert(),
             "max_bins"_a, "n_threads"_a)
        .def("__init__", &construct_scan<double>, "X"_a.noconvert(), "rows"_a.noconvert(), "weights"_a.noconvert(),
             "max_bins"_a, "n_threads"_a)
        .def("price", &price, "duals"_a.noconvert(),
             "The free stump of largest |price|. Returns (found, feature, threshold, price, energy).")
        .def("take", &StumpScan::take, "feature"_a, "threshold"_a, "Take a stump out of the search.")
        .def("respond", &respond_training, "feature"_a, "threshold"_a, "Responses on the training rows.")
        .def("thresholds",
             [](const StumpScan& self, std::size_t f) {
                 require(f < self.n_features(), "thresholds: no such feature");
                 const std::vector<double>& thresholds = self.feature(f).thresholds;
                 return new_array(thresholds.data(), thresholds.size());
             },
             "feature"_a)
        .def_prop_ro("n_candidates", &StumpScan::n_candidates)
        .def_prop_ro("n_features", &StumpScan::n_features);

    m.def("respond_stumps", &respond<float>, "X"_a.noconvert(), "features"_a.noconvert(), "thresholds"_a.noconvert(),
          "n_threads"_a, "Responses of stumps on new rows, flat, row by row.");
    m.def("respond_stumps", &respond<double>, "X"_a.noconvert(), "features"_a.noconvert(),
          "thresholds"_a.noconvert(), "n_threads"_a);

    nb::class_<StepTables>(m, "StepTables", "A weighted sum of stumps as one step function per feature.")
        .def(
            "__init__",
            [](StepTables* self, const Vector<std::int64_t>& features, const Vector<double>& thresholds,
               const CMatrix<double>& weights) {
                require(features.shape(0) == thresholds.shape(0) && features.shape(0) == weights.shape(0),
                        "StepTables: lengths differ");
                require_features(features, static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max()));
                new (self) StepTables(features.data(), thresholds.data(), weights.data(), features.shape(0),
                                      weights.shape(1));
            },
            "features"_a.noconvert(), "thresholds"_a.noconvert(), "weights"_a.noconvert())
        .def("decide", &decide<float>, "X"_a.noconvert(), "n_threads"_a,
             "sum_j w_j h_j(x) of every row, flat, row by row.")
        .def("decide", &decide<double>, "X"_a.noconvert(), "n_threads"_a);

    m.def("default_threads", &default_threads, "Threads that OpenMP would use.");
    m.def("usable_threads", nb::overload_cast<int>(&usable_threads), "requested"_a, "1 in a forked child, else `requested`.");
    m.def("simd_level", [] { return std::string(vector_ops().name); }, "The SIMD level in use.");
    m.def("simd_levels", &vector_ops_names, "The SIMD levels this processor has, slowest first.");
    m.def("force_simd_level", &force_vector_ops, "name"_a, "Use one level from now on; '' for the best.");
}
