// Stumps: the pool, its searches, and prediction.
#include <limits>

#include "bindings.hpp"
#include "respond_stumps.hpp"
#include "scan_stumps.hpp"
#include "tabulate_stumps.hpp"

namespace cgens {
namespace {

template <class T>
std::shared_ptr<StumpPool> make_pool(const Matrix<T>& X, const Vector<std::int64_t>& rows,
                                     const Vector<double>& weights, std::size_t max_bins, int n_threads,
                                     const std::function<bool()>& interrupted) {
    require(rows.shape(0) == weights.shape(0), "StumpPool: one weight per row");
    require(rows.shape(0) > 0 && X.shape(1) > 0, "StumpPool: an empty table");
    require(max_bins >= 2, "StumpPool: max_bins >= 2");
    for (std::size_t i = 0; i < rows.shape(0); ++i)
        require(rows(i) >= 0 && static_cast<std::size_t>(rows(i)) < X.shape(0), "StumpPool: no such row of X");
    try {
        nb::gil_scoped_release released;
        return std::make_shared<StumpPool>(bin_features(view<T>(X), rows.data(), weights.data(), rows.shape(0),
                                                        max_bins, n_threads, interrupted),
                                           n_threads);
    } catch (const Interrupted&) {
        PyErr_SetNone(PyExc_KeyboardInterrupt);
        throw nb::python_error();
    }
}

auto price(StumpScan& self, const Vector<double>& duals) {
    require(duals.shape(0) == self.n_rows(), "price: one dual per row");
    require_finite(duals.data(), duals.shape(0), "price: duals must be finite");
    StumpPrice best;
    {
        nb::gil_scoped_release released;
        best = self.price(duals.data());
    }
    return std::make_tuple(best.found, best.feature, best.threshold, best.price, best.energy);
}

PriceRule rule_of(const StumpTable& self, const std::string& name) {
    require(name == "max" || name == "gain" || name == "votes", "the rule is max, gain or votes");
    require(name != "gain" || self.has_curvature(), "the gain needs set_curvature first");
    return name == "max" ? PriceRule::kMax : name == "gain" ? PriceRule::kGain : PriceRule::kVotes;
}

auto as_tuple(const TablePrice& best) {
    return std::make_tuple(best.found, best.feature, best.threshold, best.output, best.price, best.max_price,
                           best.energy, best.merit);
}

void set_duals(StumpTable& self, const CMatrix<double>& duals) {
    require(duals.shape(0) == self.n_rows() && duals.shape(1) == self.n_outputs(), "set_duals: the shape");
    require_finite(duals.data(), duals.size(), "set_duals: duals must be finite");
    nb::gil_scoped_release released;
    self.set_duals(duals.data());
}

void set_curvature(StumpTable& self, const Vector<double>& diagonal) {
    require(diagonal.shape(0) == self.n_rows(), "set_curvature: one entry per row");
    for (std::size_t i = 0; i < diagonal.shape(0); ++i)
        require(diagonal(i) > 0 && std::isfinite(diagonal(i)), "set_curvature: finite numbers > 0");
    nb::gil_scoped_release released;
    self.set_curvature(diagonal.data());
}

void require_change(const StumpTable& self, const Vector<double>& direction, double denominator) {
    require(direction.shape(0) == self.n_rows(), "change: one entry per row");
    require_finite(direction.data(), direction.shape(0), "change: the direction must be finite");
    require(denominator > 0, "change: a positive denominator");
}

auto change(StumpTable& self, const Vector<double>& direction, const Vector<double>& step, double denominator,
            const std::string& rule) {
    require_change(self, direction, denominator);
    require(step.shape(0) == self.n_outputs(), "change: one step per output");
    require_finite(step.data(), step.shape(0), "change: the step must be finite");
    const PriceRule by = rule_of(self, rule);
    TablePrice best;
    {
        nb::gil_scoped_release released;
        best = self.change(direction.data(), step.data(), denominator, by);
    }
    return as_tuple(best);
}

void change_curvature(StumpTable& self, const Vector<double>& direction, double denominator) {
    require_change(self, direction, denominator);
    require(self.has_curvature(), "change_curvature: set_curvature comes first");
    nb::gil_scoped_release released;
    self.change_curvature(direction.data(), denominator);
}

auto find_best(StumpTable& self, const std::string& rule) {
    const PriceRule by = rule_of(self, rule);
    TablePrice best;
    {
        nb::gil_scoped_release released;
        best = self.find_best(by);
    }
    return as_tuple(best);
}

template <class Stumps>
NewArray<std::int8_t> respond_training(const Stumps& self, std::size_t feature, double threshold) {
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

void bind_stumps(nb::module_& m) {
    nb::class_<StumpPool>(m, "StumpPool", "The training table in bins: all its stumps, and which are taken.")
        .def(nb::new_(&make_pool<float>), "X"_a.noconvert(), "rows"_a.noconvert(), "weights"_a.noconvert(),
             "max_bins"_a, "n_threads"_a, "interrupted"_a = nb::none(),
             "Raises KeyboardInterrupt where `interrupted` says so.")
        .def(nb::new_(&make_pool<double>), "X"_a.noconvert(), "rows"_a.noconvert(), "weights"_a.noconvert(),
             "max_bins"_a, "n_threads"_a, "interrupted"_a = nb::none())
        .def("take", &StumpPool::take, "feature"_a, "threshold"_a, "Take a stump out of the searches.")
        .def("respond", &respond_training<StumpPool>, "feature"_a, "threshold"_a, "Responses on the training rows.")
        .def("thresholds",
             [](const StumpPool& self, std::size_t f) {
                 require(f < self.n_features(), "thresholds: no such feature");
                 return to_array(self.feature(f).thresholds);
             },
             "feature"_a)
        .def_prop_ro("n_candidates", &StumpPool::n_candidates)
        .def_prop_ro("n_features", &StumpPool::n_features);

    nb::class_<StumpScan>(m, "StumpScan", "The search for the best stump for one output whose duals are mostly 0.")
        .def(
            "__init__",
            [](StumpScan* self, std::shared_ptr<StumpPool> pool, int n_threads) {
                new (self) StumpScan(std::move(pool), n_threads);
            },
            "pool"_a, "n_threads"_a)
        .def("price", &price, "duals"_a.noconvert(),
             "The free stump of largest |price|. Returns (found, feature, threshold, price, energy).");

    nb::class_<StumpTable>(m, "StumpTable", "The prices of all stumps for several outputs, changed by rank one.")
        .def(
            "__init__",
            [](StumpTable* self, std::shared_ptr<StumpPool> pool, std::size_t n_outputs, int n_threads) {
                require(n_outputs > 0, "StumpTable: at least one output");
                nb::gil_scoped_release released;
                new (self) StumpTable(std::move(pool), n_outputs, n_threads);
            },
            "pool"_a, "n_outputs"_a, "n_threads"_a)
        .def("set_duals", &set_duals, "duals"_a.noconvert(), "All prices anew.")
        .def("set_curvature", &set_curvature, "diagonal"_a.noconvert(), "g'Pg of the empty master for all stumps.")
        .def("change", &change, "direction"_a.noconvert(), "step"_a.noconvert(), "denominator"_a, "rule"_a,
             "Change the duals by -direction step'. Returns as find_best does.")
        .def("change_curvature", &change_curvature, "direction"_a.noconvert(), "denominator"_a,
             "Change g'Pg alone.")
        .def("find_best", &find_best, "rule"_a,
             "The best free stump. Returns (found, feature, threshold, output, price, max_price, energy, merit).")
        .def("respond", &respond_training<StumpTable>, "feature"_a, "threshold"_a, "Responses on the training rows.")
        .def("entries",
             [](const StumpTable& self, std::size_t feature, std::size_t bin) {
                 require(feature < self.pool().n_features() && bin + 1 < self.pool().feature(feature).n_bins(),
                         "entries: no such threshold");
                 return to_array(self.entries(feature, bin));
             },
             "feature"_a, "bin"_a, "The prices of one threshold, and its g'Pg.")
        .def_prop_ro("n_outputs", &StumpTable::n_outputs)
        .def_prop_ro("has_curvature", &StumpTable::has_curvature)
        .def_prop_ro("drift", &StumpTable::drift);

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
}

}  // namespace cgens
