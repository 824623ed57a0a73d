// The solvers behind the masters.
#include "bindings.hpp"
#include "dual_cd.hpp"
#include "gram_ls.hpp"

namespace cgens {
namespace {

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
    require(self.n_columns() == self.store()->n_columns(), "solve: a sibling was given more columns");
    SolveReport report;
    {
        nb::gil_scoped_release released;
        report = self.solve(tol, max_sweeps, interrupted);
    }
    return std::make_tuple(report.primal, report.dual, report.n_sweeps, std::string(status_name(report.status)));
}

// A sibling shares the columns of another solver.
void construct_cd(DualCd* self, const Vector<double>& linear, const Vector<double>& lower, const Vector<double>& upper,
                  int n_threads, const DualCd* sibling) {
    require(linear.shape(0) > 0, "DualCd: no rows");
    require(linear.shape(0) == lower.shape(0) && linear.shape(0) == upper.shape(0), "DualCd: lengths differ");
    for (std::size_t i = 0; i < linear.shape(0); ++i)
        require(std::isfinite(linear(i)) && std::isfinite(upper(i) - lower(i)) && lower(i) <= 0 && upper(i) >= 0,
                "DualCd: finite numbers, lower <= 0 <= upper");
    require(sibling == nullptr || (sibling->n_rows() == linear.shape(0) && sibling->n_columns() == 0),
            "DualCd: a sibling of the same rows and without columns");
    new (self) DualCd(to_vector(linear), to_vector(lower), to_vector(upper), n_threads,
                      sibling == nullptr ? nullptr : sibling->store());
}

template <class T>
void add_column(DualCd& self, const Vector<T>& column) {
    require(column.shape(0) == self.n_rows(), "add: one response per row");
    nb::gil_scoped_release released;
    self.add_column(column.data());
}

void construct_ls(GramLs* self, const CMatrix<double>& target, const Vector<double>& weights, int n_threads) {
    require(target.shape(0) > 0 && target.shape(1) > 0, "GramLs: an empty target");
    require(target.shape(0) == weights.shape(0), "GramLs: one weight per row");
    require_finite(target.data(), target.size(), "GramLs: a finite target");
    for (std::size_t i = 0; i < weights.shape(0); ++i)
        require(weights(i) > 0 && std::isfinite(weights(i)), "GramLs: finite weights > 0");
    new (self) GramLs(target.data(), to_vector(weights), target.shape(1), n_threads);
}

template <class T>
void add_ls_column(GramLs& self, const Vector<T>& column) {
    require(column.shape(0) == self.n_rows(), "add: one response per row");
    nb::gil_scoped_release released;
    self.add_column(column.data());
}

std::vector<double> ls_weights(const GramLs& self, const CMatrix<double>& weights) {
    require(weights.shape(1) == self.n_outputs() && weights.shape(0) <= self.n_columns(), "weights: the shape");
    return {weights.data(), weights.data() + weights.size()};
}

template <class T>
NewArray<double> quadratic(const GramLs& self, const Matrix<T>& columns, std::size_t n_columns) {
    require(columns.shape(1) == self.n_rows() && columns.stride(1) == 1, "quadratic: one response per row, contiguous");
    require(n_columns <= self.n_columns(), "quadratic: no such columns");
    auto out = new_array<double>(nullptr, columns.shape(0));
    nb::gil_scoped_release released;
    for (std::size_t g = 0; g < columns.shape(0); ++g)
        out.data()[g] = self.quadratic(columns.data() + static_cast<std::ptrdiff_t>(g) * columns.stride(0), n_columns);
    return out;
}

void require_column(const GramLs& self, std::size_t k) { require(k < self.n_columns(), "no such column"); }

}  // namespace

void bind_masters(nb::module_& m) {
    nb::class_<DualCd>(m, "DualCd", "Box-constrained dual coordinate descent with a free bias.")
        .def("__init__", &construct_cd, "linear"_a.noconvert(), "lower"_a.noconvert(), "upper"_a.noconvert(),
             "n_threads"_a, "sibling"_a = nb::none())
        .def("add", &add_column<std::int8_t>, "column"_a.noconvert(), "Add one column of responses.")
        .def("add", &add_column<float>, "column"_a.noconvert())
        .def("add", &add_column<double>, "column"_a.noconvert())
        .def("solve", &solve, "tol"_a, "max_sweeps"_a, "interrupted"_a,
             "Descend to a relative gap of tol. Returns (primal, dual, n_sweeps, status).")
        .def("scale_box",
             [](DualCd& self, double factor) {
                 require(factor > 0 && std::isfinite(factor), "scale_box: a finite factor > 0");
                 self.scale_box(factor);
             },
             "factor"_a, "Multiply the box, and the duals with it.")
        .def("duals", [](const DualCd& self) { return new_array(self.duals().data(), self.n_rows()); },
             "A copy of the signed duals, one per row.")
        .def("weights", [](const DualCd& self) { return new_array(self.weights(), self.n_columns()); },
             "A copy of the weights, one per column.")
        .def_prop_ro("bias", &DualCd::bias);

    nb::class_<GramLs>(m, "GramLs", "Regularised least squares with a free bias over a growing set of columns.")
        .def("__init__", &construct_ls, "target"_a.noconvert(), "weights"_a.noconvert(), "n_threads"_a)
        .def("add", &add_ls_column<std::int8_t>, "column"_a.noconvert(), "Add one column of responses.")
        .def("add", &add_ls_column<float>, "column"_a.noconvert())
        .def("add", &add_ls_column<double>, "column"_a.noconvert())
        .def("solve",
             [](GramLs& self, double tol) {
                 LsReport report;
                 {
                     nb::gil_scoped_release released;
                     report = self.solve(tol);
                 }
                 return std::make_tuple(report.primal, report.dual, report.n_refinements);
             },
             "tol"_a, "Solve, evaluate on the data and refine. Returns (primal, dual, n_refinements).")
        .def("weights", [](const GramLs& self) { return to_array(self.weights()); }, "Flat, column by column.")
        .def("intercept",
             [](const GramLs& self, const CMatrix<double>& weights) {
                 return to_array(self.intercept(ls_weights(self, weights)));
             },
             "weights"_a.noconvert(), "The bias that goes with weights of the first columns.")
        .def("duals",
             [](const GramLs& self, const CMatrix<double>& weights) {
                 const std::vector<double> model = ls_weights(self, weights);
                 std::vector<double> duals;
                 {
                     nb::gil_scoped_release released;
                     duals = self.duals(model);
                 }
                 return to_array(duals);
             },
             "weights"_a.noconvert(), "The duals of a model of the first columns, flat, row by row.")
        .def("step",
             [](const GramLs& self, std::size_t k) {
                 require_column(self, k);
                 return std::make_tuple(to_array(self.coefficients(k)), to_array(self.output(k)), self.denominator(k));
             },
             "k"_a, "How column k changed the weights: (coefficients, output, denominator).")
        .def("direction",
             [](const GramLs& self, std::size_t k) {
                 require_column(self, k);
                 std::vector<double> direction;
                 {
                     nb::gil_scoped_release released;
                     direction = self.direction(k);
                 }
                 return to_array(direction);
             },
             "k"_a, "Along what column k changed the duals.")
        .def("resolve",
             [](const GramLs& self, double factor, const std::vector<std::size_t>& stages) {
                 require(factor > 0 && std::isfinite(factor), "resolve: a finite factor > 0");
                 require(std::is_sorted(stages.begin(), stages.end()) &&
                             (stages.empty() || stages.back() <= self.n_columns()),
                         "resolve: ascending stages, up to the number of columns");
                 std::vector<std::vector<double>> solutions;
                 {
                     nb::gil_scoped_release released;
                     solutions = self.resolve(factor, stages);
                 }
                 std::vector<NewArray<double>> arrays;
                 for (const std::vector<double>& weights : solutions) arrays.push_back(to_array(weights));
                 return arrays;
             },
             "factor"_a, "stages"_a, "Weights of the first so many columns, flat, for C times a factor.")
        .def("quadratic", &quadratic<std::int8_t>, "columns"_a.noconvert(), "n_columns"_a,
             "g'Pg of columns g, one a row, with the first so many columns in the master.")
        .def("quadratic", &quadratic<float>, "columns"_a.noconvert(), "n_columns"_a)
        .def("quadratic", &quadratic<double>, "columns"_a.noconvert(), "n_columns"_a)
        .def_prop_ro("primal", &GramLs::primal);
}

}  // namespace cgens
