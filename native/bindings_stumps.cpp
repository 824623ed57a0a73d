// Stumps: the pool, searches over it, and prediction.
#include <cmath>
#include <limits>

#include <nanobind/stl/optional.h>

#include <optional>

#include "bindings.hpp"
#include "respond_stumps.hpp"
#include "scan_stumps.hpp"
#include "tabulate_stumps.hpp"

namespace cgens {
namespace {

using Flags = Vector<std::uint8_t>;

// Bins the rows of X and returns their stumps.
template <class View>
std::shared_ptr<StumpPool> bin_rows(const View& X, const Vector<std::int64_t>& rows, const Vector<double>& weights,
                                    const BinningOptions& options) {
    require_positive(weights, rows.shape(0), "StumpPool: one finite weight > 0 per row");
    require(rows.shape(0) > 0 && X.n_columns > 0, "StumpPool: the table is empty");
    require(options.max_bins >= 2, "StumpPool: max_bins must be >= 2");
    for (std::size_t i = 0; i < rows.shape(0); ++i)
        require(rows(i) >= 0 && static_cast<std::size_t>(rows(i)) < X.n_rows, "StumpPool: no such row of X");
    try {
        nb::gil_scoped_release released;
        return std::make_shared<StumpPool>(bin_features(X, rows.data(), weights.data(), rows.shape(0), options),
                                           options.n_threads);
    } catch (const Interrupted&) {
        PyErr_SetNone(PyExc_KeyboardInterrupt);
        throw nb::python_error();
    }
}

// The codes of a category must be integers >= 0, or NaN; there is memory for all levels up to the largest.
template <class T>
void require_codes(const Matrix<T>& X, std::size_t column) {
    for (std::size_t i = 0; i < X.shape(0); ++i) {
        const T code = X(i, column);
        require(std::isnan(code) || (code >= 0 && code < 0x1p24 && code == std::floor(code)),
                "StumpPool: the values of a category must be integers from 0 to 2^24 - 1");
    }
}

template <class T>
std::shared_ptr<StumpPool> make_pool(const Matrix<T>& X, const Vector<std::int64_t>& rows,
                                     const Vector<double>& weights, std::size_t max_bins, int n_threads,
                                     const std::function<bool()>& interrupted, const std::optional<Flags>& is_category,
                                     double min_level_weight) {
    require(!is_category || is_category->shape(0) == X.shape(1), "StumpPool: one flag per feature");
    require(min_level_weight >= 0 && std::isfinite(min_level_weight),
            "StumpPool: min_level_weight must be finite and >= 0");
    for (std::size_t f = 0; is_category && f < X.shape(1); ++f)
        if ((*is_category)(f) != 0) require_codes(X, f);
    const std::uint8_t* flags = is_category ? is_category->data() : nullptr;
    return bin_rows(view<T>(X), rows, weights, {max_bins, flags, min_level_weight, n_threads, interrupted});
}

template <class T>
std::shared_ptr<StumpPool> make_sparse_pool(const Vector<T>& data, const Vector<std::int32_t>& indices,
                                            const Vector<std::int64_t>& begin, std::size_t n_all,
                                            const Vector<std::int64_t>& rows, const Vector<double>& weights,
                                            std::size_t max_bins, int n_threads,
                                            const std::function<bool()>& interrupted) {
    require_compressed(data, indices, begin, n_all);
    const SparseView<T> X{data.data(), begin.data(), indices.data(), n_all, begin.shape(0) - 1};
    return bin_rows(X, rows, weights, {max_bins, nullptr, 0.0, n_threads, interrupted});
}

auto split_of(const StumpPool& self, std::size_t candidate) {
    const Split split = self.split(candidate);
    return std::make_tuple(split.feature, split.threshold, to_array(split.levels), split.gaps_above, split.gaps_known);
}

std::optional<std::size_t> find_candidate(const StumpPool& self, std::size_t feature, double threshold,
                                          const Vector<std::uint32_t>& levels, bool gaps_above) {
    require(feature < self.n_features(), "find: no such feature");
    return self.find({feature, threshold, to_vector(levels), gaps_above, true});
}

auto price(StumpScan& self, const Vector<double>& duals) {
    require(duals.shape(0) == self.n_rows(), "price: one dual per row");
    require_finite(duals, "price: duals must be finite");
    const StumpPrice best = without_gil([&] { return self.price(duals.data()); });
    return std::make_tuple(best.found, best.candidate, best.price, best.energy);
}

PriceRule rule_of(const StumpTable& self, const std::string& name) {
    require(name == "max" || name == "gain" || name == "votes", "rule must be max, gain or votes");
    require(name != "gain" || self.has_curvature(), "the rule gain needs set_curvature first");
    return name == "max" ? PriceRule::kMax : name == "gain" ? PriceRule::kGain : PriceRule::kVotes;
}

auto as_tuple(const TablePrice& best) {
    return std::make_tuple(best.found, best.candidate, best.output, best.price, best.max_price, best.energy,
                           best.merit);
}

void set_curvature(StumpTable& self, const Vector<double>& diagonal) {
    require(diagonal.shape(0) == self.n_rows(), "set_curvature: one entry per row");
    double total = 0.0;
    for (std::size_t i = 0; i < self.n_rows(); ++i) {
        require(diagonal(i) >= 0, "set_curvature: entries must be >= 0");
        total += diagonal(i);
    }
    require(total > 0 && std::isfinite(total), "set_curvature: the sum must be finite and > 0");
    nb::gil_scoped_release released;
    self.set_curvature(diagonal.data());
}

void require_change(const StumpTable& self, const Vector<double>& direction, double denominator) {
    require(direction.shape(0) == self.n_rows(), "change: one entry per row");
    require_finite(direction, "change: the direction must be finite");
    require(denominator > 0, "change: denominator must be > 0");
}

auto reprice(StumpTable& self, const CMatrix<double>& duals, const std::string& rule,
             const std::optional<Vector<double>>& direction, double denominator, bool rough) {
    require(duals.shape(0) == self.n_rows() && duals.shape(1) == self.n_outputs(),
            "reprice: duals must be of shape (n_rows, n_outputs)");
    require_finite(duals, "reprice: duals must be finite");
    if (direction) {
        require_change(self, *direction, denominator);
        require(self.has_curvature(), "reprice: call set_curvature first");
    }
    const PriceRule by = rule_of(self, rule);
    const double* along = direction ? direction->data() : nullptr;
    return as_tuple(without_gil([&] { return self.reprice(duals.data(), by, along, denominator, rough); }));
}

auto change(StumpTable& self, const Vector<double>& direction, const Vector<double>& step, double denominator,
            const std::string& rule) {
    require_change(self, direction, denominator);
    require(step.shape(0) == self.n_outputs(), "change: one step per output");
    require_finite(step, "change: the step must be finite");
    const PriceRule by = rule_of(self, rule);
    return as_tuple(without_gil([&] { return self.change(direction.data(), step.data(), denominator, by); }));
}

void change_curvature(StumpTable& self, const Vector<double>& direction, double denominator) {
    require_change(self, direction, denominator);
    require(self.has_curvature(), "change_curvature: call set_curvature first");
    nb::gil_scoped_release released;
    self.change_curvature(direction.data(), denominator);
}

auto find_best(StumpTable& self, const std::string& rule) {
    const PriceRule by = rule_of(self, rule);
    return as_tuple(without_gil([&] { return self.find_best(by); }));
}

auto get_state(const StumpTable& self) {
    return std::make_tuple(to_array(self.prices()), to_array(self.curvature()), self.drift());
}

void set_state(StumpTable& self, const Vector<double>& prices, const Vector<double>& curvature, double drift) {
    require(prices.shape(0) == self.prices().size() &&
                (curvature.shape(0) == 0 || curvature.shape(0) * self.n_outputs() == prices.shape(0)),
            "set_state: lengths differ");
    require_finite(prices, "set_state: prices must be finite");
    require_finite(curvature, "set_state: g'Pg must be finite");
    require(drift >= 0 && std::isfinite(drift), "set_state: drift must be finite and >= 0");
    self.set_state(to_vector(prices), to_vector(curvature), drift);
}

template <class Stumps>
NewArray<std::int8_t> respond_training(const Stumps& self, std::size_t candidate) {
    auto out = zeros<std::int8_t>(self.n_rows());
    nb::gil_scoped_release released;
    self.respond(candidate, out.data());
    return out;
}

void require_features(const Vector<std::int64_t>& features, std::size_t n_features) {
    for (std::size_t j = 0; j < features.shape(0); ++j)
        require(features(j) >= 0 && static_cast<std::size_t>(features(j)) < n_features, "no such feature of X");
}

StumpArrays stump_arrays(const Vector<std::int64_t>& features, const Vector<double>& thresholds, const Flags& gaps_above,
                         const Vector<std::int64_t>& level_begin, const Vector<std::uint32_t>& levels) {
    const std::size_t n = features.shape(0);
    require(thresholds.shape(0) == n && gaps_above.shape(0) == n, "stumps: lengths differ");
    require_levels(level_begin, levels, n);
    return {n, features.data(), thresholds.data(), gaps_above.data(), level_begin.data(), levels.data()};
}

template <class T>
NewArray<std::int8_t> respond(const Matrix<T>& X, const Vector<std::int64_t>& features,
                              const Vector<double>& thresholds, const Flags& gaps_above,
                              const Vector<std::int64_t>& level_begin, const Vector<std::uint32_t>& levels,
                              int n_threads) {
    const StumpArrays stumps = stump_arrays(features, thresholds, gaps_above, level_begin, levels);
    require_features(features, X.shape(1));
    auto out = zeros<std::int8_t>(X.shape(0) * features.shape(0));
    nb::gil_scoped_release released;
    respond_stumps(view<T>(X), stumps, out.data(), n_threads);
    return out;
}

template <class T>
NewArray<double> decide(const StepTables& self, const Matrix<T>& X, int n_threads) {
    require(X.shape(1) >= self.n_inputs(), "decide: X has too few columns");
    auto out = zeros<double>(X.shape(0) * self.n_outputs());
    nb::gil_scoped_release released;
    self.add_decision(view<T>(X), out.data(), n_threads);
    return out;
}

}  // namespace

void bind_stumps(nb::module_& m) {
    nb::class_<StumpPool>(m, "StumpPool", "All stumps of a training table, in bins, and which of them are taken.")
        .def(nb::new_(&make_pool<float>), "X"_array, "rows"_array, "weights"_array, "max_bins"_a, "n_threads"_a,
             "interrupted"_a = nb::none(), "is_category"_array.none() = nb::none(), "min_level_weight"_a = 0.0,
             "Raises KeyboardInterrupt if `interrupted` returns True.")
        .def(nb::new_(&make_pool<double>), "X"_array, "rows"_array, "weights"_array, "max_bins"_a, "n_threads"_a,
             "interrupted"_a = nb::none(), "is_category"_array.none() = nb::none(), "min_level_weight"_a = 0.0)
        .def_static("of_columns", &make_sparse_pool<float>, "data"_array, "indices"_array, "begin"_array, "n_all"_a,
                    "rows"_array, "weights"_array, "max_bins"_a, "n_threads"_a, "interrupted"_a = nb::none(),
                    "Return the stumps of a table of `n_all` rows in compressed sparse columns.")
        .def_static("of_columns", &make_sparse_pool<double>, "data"_array, "indices"_array, "begin"_array, "n_all"_a,
                    "rows"_array, "weights"_array, "max_bins"_a, "n_threads"_a, "interrupted"_a = nb::none())
        .def("split", &split_of, "candidate"_a,
             "Return (feature, threshold, levels, gaps_above, gaps_known): the last is whether a training row has a gap.")
        .def("find", &find_candidate, "feature"_a, "threshold"_a, "levels"_array, "gaps_above"_a,
             "Return the candidate with this split, or None.")
        .def("take", &StumpPool::take, "candidate"_a,
             "Remove a stump from the searches. Returns False if its response was taken before.")
        .def("respond", &respond_training<StumpPool>, "candidate"_a, "Return the responses on the training rows.")
        .def("thresholds",
             [](const StumpPool& self, std::size_t f) {
                 require(f < self.n_features(), "thresholds: no such feature");
                 return to_array(self.feature(f).thresholds);
             },
             "feature"_a, "Return the thresholds of numbers; the one between values and gaps is infinite.")
        .def("levels",
             [](const StumpPool& self, std::size_t f) {
                 require(f < self.n_features(), "levels: no such feature");
                 return to_array(self.feature(f).levels);
             },
             "feature"_a, "Return the levels of a category that have a bin of their own.")
        .def_prop_ro("n_cells", &StumpPool::n_cells, "The number of candidates, including those with a repeated response.")
        .def_prop_ro("n_candidates", &StumpPool::n_candidates)
        .def_prop_ro("n_features", &StumpPool::n_features);

    nb::class_<StumpScan>(m, "StumpScan", "The search for the best stump of one output, whose duals are mostly 0.")
        .def(nb::init<std::shared_ptr<StumpPool>, int>(), "pool"_a, "n_threads"_a)
        .def("price", &price, "duals"_array,
             "Find the free stump with the largest |price|. Returns (found, candidate, price, energy).");

    nb::class_<StumpTable>(m, "StumpTable", "The prices of all stumps for several outputs, with rank-one updates.")
        .def(
            "__init__",
            [](StumpTable* self, std::shared_ptr<StumpPool> pool, std::size_t n_outputs, int n_threads) {
                require(n_outputs > 0, "StumpTable: at least one output");
                nb::gil_scoped_release released;
                new (self) StumpTable(std::move(pool), n_outputs, n_threads);
            },
            "pool"_a, "n_outputs"_a, "n_threads"_a)
        .def("reprice", &reprice, "duals"_array, "rule"_a, "direction"_array.none() = nb::none(), "denominator"_a = 1.0,
             "rough"_a = false,
             "Compute all prices from the duals, and change g'Pg if given a direction. Returns the same as find_best.")
        .def("set_curvature", &set_curvature, "diagonal"_array, "Compute g'Pg of all stumps for the empty master.")
        .def("change", &change, "direction"_array, "step"_array, "denominator"_a, "rule"_a,
             "Change the duals by -direction step'. Returns the same as find_best.")
        .def("change_curvature", &change_curvature, "direction"_array, "denominator"_a, "Change g'Pg only.")
        .def("find_best", &find_best, "rule"_a,
             "Find the best free stump. Returns (found, candidate, output, price, max_price, energy, merit).")
        .def("get_state", &get_state, "Return (prices, curvature, drift), for set_state.")
        .def("set_state", &set_state, "prices"_array, "curvature"_array, "drift"_a, "Continue from a state.")
        .def("respond", &respond_training<StumpTable>, "candidate"_a, "Return the responses on the training rows.")
        .def("entries", [](const StumpTable& self, std::size_t candidate) { return to_array(self.entries(candidate)); },
             "candidate"_a, "Return the prices of one candidate and its g'Pg.")
        .def_prop_ro("n_outputs", &StumpTable::n_outputs)
        .def_prop_ro("has_curvature", &StumpTable::has_curvature)
        .def_prop_ro("drift", &StumpTable::drift);

    m.def("respond_stumps", &respond<float>, "X"_array, "features"_array, "thresholds"_array, "gaps_above"_array,
          "level_begin"_array, "levels"_array, "n_threads"_a,
          "Return the responses on new rows, of shape (n_rows, n_stumps), flat.");
    m.def("respond_stumps", &respond<double>, "X"_array, "features"_array, "thresholds"_array, "gaps_above"_array,
          "level_begin"_array, "levels"_array, "n_threads"_a);

    nb::class_<StepTables>(m, "StepTables", "A weighted sum of stumps as one step function per feature.")
        .def(
            "__init__",
            [](StepTables* self, const Vector<std::int64_t>& features, const Vector<double>& thresholds,
               const Flags& gaps_above, const Vector<std::int64_t>& level_begin, const Vector<std::uint32_t>& levels,
               const CMatrix<double>& weights) {
                const StumpArrays stumps = stump_arrays(features, thresholds, gaps_above, level_begin, levels);
                require(features.shape(0) == weights.shape(0), "StepTables: lengths differ");
                require(weights.shape(1) > 0, "StepTables: at least one output");
                require_features(features, static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max()));
                nb::gil_scoped_release released;
                new (self) StepTables(stumps, weights.data(), weights.shape(1));
            },
            "features"_array, "thresholds"_array, "gaps_above"_array, "level_begin"_array, "levels"_array,
            "weights"_array)
        .def("decide", &decide<float>, "X"_array, "n_threads"_a,
             "Return sum_j w_j h_j(x), of shape (n_rows, n_outputs), flat.")
        .def("decide", &decide<double>, "X"_array, "n_threads"_a);
}

}  // namespace cgens
