// The solvers of the masters.
#include <numeric>

#include "bindings.hpp"
#include "dual_cd.hpp"
#include "gram_ls.hpp"

namespace cgens {
namespace {

constexpr const char* kStatusNames[] = {"converged", "max_sweeps", "interrupted"};  // in the order of SolveStatus

// `interrupted` acquires the GIL by itself.
auto solve(DualCd& self, double tol, std::int64_t max_sweeps, const std::function<bool()>& interrupted) {
    require(self.n_columns() == self.store()->n_columns(), "solve: a sibling has more columns");
    const SolveReport report = without_gil([&] { return self.solve(tol, max_sweeps, interrupted); });
    const std::string status = kStatusNames[static_cast<std::size_t>(report.status)];
    return std::make_tuple(report.primal, report.dual, report.n_sweeps, status);
}

void construct_cd(DualCd* self, const Vector<double>& linear, const Vector<double>& lower, const Vector<double>& upper,
                  int n_threads, const DualCd* sibling, std::size_t n_duals_per_row, double total) {
    require(linear.shape(0) > 0, "DualCd: no rows");
    require(n_duals_per_row > 0 && linear.shape(0) % n_duals_per_row == 0,
            "DualCd: the length must be a multiple of n_duals_per_row");
    require(linear.shape(0) == lower.shape(0) && linear.shape(0) == upper.shape(0), "DualCd: lengths differ");
    for (std::size_t i = 0; i < linear.shape(0); ++i)
        require(std::isfinite(linear(i)) && std::isfinite(upper(i) - lower(i)) && lower(i) <= 0 && upper(i) >= 0,
                "DualCd: values must be finite, with lower <= 0 <= upper");
    require(sibling == nullptr || (sibling->n_rows() == linear.shape(0) / n_duals_per_row && sibling->n_columns() == 0),
            "DualCd: a sibling must have the same rows and no columns yet");
    const double room = std::accumulate(upper.data(), upper.data() + upper.size(), 0.0);
    require(total >= 0 && total * (1 - 1e-9) <= room, "DualCd: total must be between 0 and the sum of upper");
    nb::gil_scoped_release released;
    new (self) DualCd(to_vector(linear), to_vector(lower), to_vector(upper), n_threads,
                      sibling == nullptr ? nullptr : sibling->store(), n_duals_per_row, total);
}

template <class Solver, class T>
void add_column(Solver& self, const Vector<T>& column) {
    require(column.shape(0) == self.n_rows(), "add: one response per row");
    nb::gil_scoped_release released;
    self.add_column(column.data());
}

void construct_ls(GramLs* self, const CMatrix<double>& target, const Vector<double>& weights, int n_threads) {
    require(target.shape(0) > 0 && target.shape(1) > 0, "GramLs: the target is empty");
    require_finite(target, "GramLs: the target must be finite");
    require_positive(weights, target.shape(0), "GramLs: one finite weight > 0 per row");
    nb::gil_scoped_release released;
    new (self) GramLs(target.data(), to_vector(weights), target.shape(1), n_threads);
}

auto get_cd_state(const DualCd& self) {
    const DualCd::State state = self.state();
    const std::vector<double> numbers{state.bias, state.bias_radius, state.centre, state.unsolved ? 1.0 : 0.0,
                                      static_cast<double>(state.steps_since_refresh)};
    return std::make_tuple(to_array(state.duals), to_array(state.fits), to_array(state.weights), to_array(numbers),
                           state.random_state);
}

void set_cd_state(DualCd& self, const Vector<double>& duals, const Vector<double>& fits, const Vector<double>& weights,
                  const Vector<double>& numbers, std::uint64_t random_state) {
    require(duals.shape(0) == self.n_duals() && fits.shape(0) == self.n_duals() &&
                weights.shape(0) == self.n_columns() && numbers.shape(0) == 5,
            "set_state: lengths differ");
    for (const Vector<double>& values : {duals, fits, weights, numbers})
        require_finite(values, "set_state: values must be finite");
    require(numbers(4) >= 0 && numbers(4) < 9e15 && random_state != 0, "set_state: numbers are out of range");
    self.set_state({to_vector(duals), to_vector(fits), to_vector(weights), numbers(0), numbers(1), numbers(2),
                    numbers(3) != 0, static_cast<std::int64_t>(numbers(4)), random_state});
}

template <class T>
void append_column(GramLs& self, const Vector<T>& column) {
    require(column.shape(0) == self.n_rows(), "append: one response per row");
    nb::gil_scoped_release released;
    self.append_column(column.data());
}

auto get_ls_state(const GramLs& self) {
    const GramLs::State state = self.state();
    const std::vector<double> primal{state.primal, state.primal_scale};
    return std::make_tuple(to_array(state.products), to_array(state.with_target), to_array(state.with_itself),
                           to_array(state.means), to_array(state.factor), to_array(state.pivots),
                           to_array(state.projected), to_array(state.weights), to_array(state.last_coefficients),
                           to_array(primal));
}

void set_ls_state(GramLs& self, const Vector<double>& products, const Vector<double>& with_target,
                  const Vector<double>& with_itself, const Vector<double>& means, const Vector<double>& factor,
                  const Vector<double>& pivots, const Vector<double>& projected, const Vector<double>& weights,
                  const Vector<double>& coefficients, const Vector<double>& primal) {
    const std::size_t n = self.n_appended(), n_below = n == 0 ? 0 : n * (n - 1) / 2;
    for (const auto& [values, length] :
         {std::pair{products, n_below}, {with_target, n * self.n_outputs()}, {with_itself, n}, {means, n},
          {factor, n_below}, {pivots, n}, {projected, n * self.n_outputs()}, {weights, n * self.n_outputs()},
          {coefficients, n == 0 ? 0 : n - 1}, {primal, std::size_t{2}}}) {
        require(values.shape(0) == length, "set_state: lengths differ");
        require_finite(values, "set_state: values must be finite");
    }
    for (std::size_t j = 0; j < n; ++j) require(pivots(j) >= 1, "set_state: pivots must be >= 1");
    self.set_state({to_vector(products), to_vector(with_target), to_vector(with_itself), to_vector(means),
                    to_vector(factor), to_vector(pivots), to_vector(projected), to_vector(weights),
                    to_vector(coefficients), primal(0), primal(1)});
}

std::vector<double> ls_weights(const GramLs& self, const CMatrix<double>& weights) {
    require(weights.shape(1) == self.n_outputs() && weights.shape(0) <= self.n_columns(),
            "weights: must be of shape (n, n_outputs) with n <= n_columns");
    return {weights.data(), weights.data() + weights.size()};
}

template <class T>
NewArray<double> quadratic(const GramLs& self, const Matrix<T>& columns, std::size_t n_columns) {
    require(columns.shape(1) == self.n_rows() && columns.stride(1) == 1, "quadratic: one response per row, contiguous");
    require(n_columns <= self.n_columns(), "quadratic: n_columns is too large");
    return to_array(without_gil(
        [&] { return self.quadratic(columns.data(), columns.shape(0), columns.stride(0), n_columns); }));
}

auto resolve(const GramLs& self, double factor, const std::vector<std::size_t>& stages) {
    require(factor > 0 && std::isfinite(factor), "resolve: factor must be finite and > 0");
    require(std::is_sorted(stages.begin(), stages.end()) && (stages.empty() || stages.back() <= self.n_columns()),
            "resolve: stages must ascend and be at most n_columns");
    std::vector<NewArray<double>> arrays;
    for (const auto& weights : without_gil([&] { return self.resolve(factor, stages); }))
        arrays.push_back(to_array(weights));
    return arrays;
}

void require_column(const GramLs& self, std::size_t k) { require(k < self.n_columns(), "no such column"); }

}  // namespace

void bind_masters(nb::module_& m) {
    nb::class_<DualCd>(m, "DualCd", "Box-constrained dual coordinate descent with a free bias.")
        .def("__init__", &construct_cd, "linear"_array, "lower"_array, "upper"_array, "n_threads"_a,
             "sibling"_a = nb::none(), "n_duals_per_row"_a = 1, "total"_a = 0.0)
        .def("add", &add_column<DualCd, std::int8_t>, "column"_array, "Add one column of responses.")
        .def("add", &add_column<DualCd, float>, "column"_array)
        .def("add", &add_column<DualCd, double>, "column"_array)
        .def("solve", &solve, "tol"_a, "max_sweeps"_a, "interrupted"_a,
             "Descend to a relative gap of `tol`. Returns (primal, dual, n_sweeps, status).")
        .def("scale_box",
             [](DualCd& self, double factor) {
                 require(factor > 0 && std::isfinite(factor), "scale_box: factor must be finite and > 0");
                 self.scale_box(factor);
             },
             "factor"_a, "Multiply the box and the duals.")
        .def("duals", [](const DualCd& self) { return to_array(self.duals()); },
             "Return a copy of the signed duals: n_duals_per_row times one per row.")
        .def("weights", [](const DualCd& self) { return to_array(self.weights(), self.n_columns()); },
             "Return a copy of the weights, one per column.")
        .def("get_state", &get_cd_state, "Return (duals, fits, weights, numbers, random_state), for set_state.")
        .def("set_state", &set_cd_state, "duals"_array, "fits"_array, "weights"_array, "numbers"_array,
             "random_state"_a, "Continue from a state of the same problem, whose columns have been added.")
        .def_prop_ro("bias", &DualCd::bias);

    nb::class_<GramLs>(m, "GramLs", "Regularized least squares with a free bias over a growing set of columns.")
        .def("__init__", &construct_ls, "target"_array, "weights"_array, "n_threads"_a)
        .def("add", &add_column<GramLs, std::int8_t>, "column"_array, "Add one column of responses.")
        .def("add", &add_column<GramLs, float>, "column"_array)
        .def("add", &add_column<GramLs, double>, "column"_array)
        .def("solve",
             [](GramLs& self, double tol) {
                 const LsReport report = without_gil([&] { return self.solve(tol); });
                 return std::make_tuple(report.primal, report.dual, report.n_refinements);
             },
             "tol"_a, "Solve, evaluate on the data and refine. Returns (primal, dual, n_refinements).")
        .def("weights", [](const GramLs& self) { return to_array(self.weights()); },
             "Return the weights of shape (n_columns, n_outputs), flat.")
        .def("intercept",
             [](const GramLs& self, const CMatrix<double>& weights) {
                 return to_array(self.intercept(ls_weights(self, weights)));
             },
             "weights"_array, "Return the intercept of the model with these weights of the first columns.")
        .def("duals",
             [](const GramLs& self, const CMatrix<double>& weights) {
                 const std::vector<double> model = ls_weights(self, weights);
                 return to_array(without_gil([&] { return self.duals(model); }));
             },
             "weights"_array, "Return the duals of the same model, of shape (n_rows, n_outputs), flat.")
        .def("step",
             [](const GramLs& self, std::size_t k) {
                 require_column(self, k);
                 return std::make_tuple(to_array(self.coefficients(k)), to_array(self.output(k)), self.denominator(k));
             },
             "k"_a, "Return how column k changed the weights: (coefficients, output, denominator).")
        .def("direction",
             [](const GramLs& self, std::size_t k) {
                 require_column(self, k);
                 return to_array(without_gil([&] { return self.direction(k); }));
             },
             "k"_a, "Return the direction in which column k changed the duals.")
        .def("resolve", &resolve, "factor"_a, "stages"_a,
             "Return, for each n in `stages`, the weights of the first n columns for C times `factor`, flat.")
        .def("quadratic", &quadratic<std::int8_t>, "columns"_array, "n_columns"_a,
             "Return g'Pg of each row g of `columns`, with P of the first `n_columns` columns.")
        .def("quadratic", &quadratic<float>, "columns"_array, "n_columns"_a)
        .def("quadratic", &quadratic<double>, "columns"_array, "n_columns"_a)
        .def("solve_factor",
             [](const GramLs& self, const CMatrix<double>& right) {
                 require(right.shape(0) == self.n_columns(), "solve_factor: one row per column");
                 const std::vector<double> own = ls_weights(self, right);
                 return to_array(without_gil([&] { return self.solve_factor(own); }));
             },
             "right"_array, "Return A^-1 right, of shape (n_columns, n_outputs), flat.")
        .def("decisions",
             [](const GramLs& self, const CMatrix<double>& weights) {
                 const std::vector<double> own = ls_weights(self, weights);
                 return to_array(without_gil([&] { return self.decisions(own); }));
             },
             "weights"_array, "Return the centred columns times weights, of shape (n_rows, n_outputs), flat.")
        .def("prices",
             [](const GramLs& self, const CMatrix<double>& values) {
                 require(values.shape(0) == self.n_rows() && values.shape(1) == self.n_outputs(), "prices: the shape");
                 return to_array(without_gil([&] { return self.prices(values.data()); }));
             },
             "values"_array, "Return the products of centred columns and values, of shape (n_columns, n_outputs), flat.")
        .def("centred_rows",
             [](const GramLs& self, const Vector<std::int64_t>& rows) {
                 require(self.n_columns() > 0, "centred_rows: there are no columns");
                 for (std::size_t i = 0; i < rows.shape(0); ++i)
                     require(rows(i) >= 0 && static_cast<std::size_t>(rows(i)) < self.n_rows(), "centred_rows: no such row");
                 return to_array(without_gil([&] { return self.centred_rows(rows.data(), rows.shape(0)); }));
             },
             "rows"_array, "Return these rows of the centred columns, of shape (len(rows), n_columns), flat.")
        .def("append", &append_column<std::int8_t>, "column"_array, "Append a column, before set_state.")
        .def("append", &append_column<float>, "column"_array)
        .def("append", &append_column<double>, "column"_array)
        .def("get_state", &get_ls_state,
             "Return all that was computed from the columns, in the order of the arguments of set_state.")
        .def("set_state", &set_ls_state, "products"_array, "with_target"_array, "with_itself"_array, "means"_array,
             "factor"_array, "pivots"_array, "projected"_array, "weights"_array, "coefficients"_array, "primal"_array,
             "Continue from a state, after the columns have been appended.")
        .def_prop_ro("primal", &GramLs::primal);
}

}  // namespace cgens
