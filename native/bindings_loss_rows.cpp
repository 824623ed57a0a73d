// The rows of smooth losses.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <optional>

#include "bindings.hpp"
#include "loss_rows.hpp"

namespace cgens {
namespace {

using Along = std::optional<Vector<double>>;

void construct(LossRows* self, const std::string& kind, const Vector<double>& scale, int n_threads) {
    require(kind == "logistic" || kind == "smooth_hinge", "LossRows: unknown kind");
    require(scale.shape(0) > 0, "LossRows: no rows");
    for (std::size_t i = 0; i < scale.shape(0); ++i)
        require(scale(i) != 0 && std::isfinite(scale(i)), "LossRows: scales must be finite and not 0");
    nb::gil_scoped_release released;
    new (self) LossRows(kind == "logistic" ? LossKind::kLogistic : LossKind::kSmoothHinge, scale.data(),
                        scale.shape(0), n_threads);
}

const double* rows_of(const LossRows& self, const Along& along) {
    require(!along || along->shape(0) == self.n_rows(), "LossRows: one number per row");
    return along ? along->data() : nullptr;
}

}  // namespace

void bind_loss_rows(nb::module_& m) {
    m.def("sum_entropies",
          [](const Vector<double>& duals, const Vector<double>& scale, double multiple) {
              require(duals.shape(0) == scale.shape(0), "sum_entropies: lengths differ");
              nb::gil_scoped_release released;
              return sum_entropies(duals.data(), scale.data(), multiple, duals.shape(0));
          },
          "duals"_array, "scale"_array, "multiple"_a, "Return the dual value of a multiple of logistic duals.");
    nb::class_<LossRows>(m, "LossRows", "The decisions and duals of the rows of a smooth loss of one output.")
        .def("__init__", &construct, "kind"_a, "scale"_array, "n_threads"_a)
        .def("set_width",
             [](LossRows& self, double width) {
                 require(width > 0 && std::isfinite(width), "set_width: the width must be finite and > 0");
                 nb::gil_scoped_release released;
                 self.set_width(width);
             },
             "width"_a, "Set over how much of the margin the hinge is smoothed.")
        .def("set_decisions",
             [](LossRows& self, const Vector<double>& decisions, double shift) {
                 const double* own = rows_of(self, decisions);
                 nb::gil_scoped_release released;
                 self.set_decisions(own, shift);
             },
             "decisions"_array, "shift"_a, "Set the decisions to these numbers + shift.")
        .def("slope",
             [](const LossRows& self, const Along& along, double shift, double step) {
                 const double* own = rows_of(self, along);
                 nb::gil_scoped_release released;
                 return self.slope(own, shift, step);
             },
             "along"_array.none(), "shift"_a, "step"_a,
             "Return the sum of duals times d, d = along + shift, at the decisions + step d.")
        .def("move",
             [](LossRows& self, const Along& along, double shift, double step) {
                 const double* own = rows_of(self, along);
                 nb::gil_scoped_release released;
                 self.move(own, shift, step);
             },
             "along"_array.none(), "shift"_a, "step"_a, "Take this step.")
        .def("slope_and_curvature",
             [](const LossRows& self, const Vector<double>& along) {
                 const double* own = rows_of(self, along);
                 nb::gil_scoped_release released;
                 return self.slope_and_curvature(own);
             },
             "along"_array, "Return the sums of duals times these numbers, and of curvatures times their squares.")
        .def("balanced_duals", [](const LossRows& self) { return to_array(without_gil([&] { return self.balanced_duals(); })); },
             "Return the duals, those of one sign shrunk so that they sum to 0.")
        .def("inside",
             [](const LossRows& self, std::size_t most) {
                 require(most > 0, "inside: at least one row");
                 std::size_t n_inside = 0;
                 auto rows = without_gil([&] { return self.inside(most, n_inside); });
                 const double share = rows.empty() ? 1.0 : static_cast<double>(rows.size()) / static_cast<double>(n_inside);
                 return std::make_pair(to_array(std::move(rows)), share);
             },
             "most"_a, "Return rows whose dual is neither 0 nor c, and which share of these rows they are.")
        .def("decisions", [](const LossRows& self) { return to_array(self.decisions(), self.n_rows()); },
             "Return a copy of the decisions.")
        .def("latest_duals",
             [](const LossRows& self) {
                 return nb::ndarray<nb::numpy, const double, nb::ndim<1>>(self.duals(), {self.n_rows()});
             },
             nb::rv_policy::reference_internal, "Return the duals as an array that later calls change.")
        .def("duals", [](const LossRows& self) { return to_array(self.duals(), self.n_rows()); },
             "Return a copy of the duals.")
        .def("sums",
             [](const LossRows& self) {
                 const LossSums& own = self.sums();
                 return std::make_tuple(own.loss, own.slack, own.duals, own.norm, own.curvature);
             },
             "Return the sums of: losses, what smoothing adds to the gap, duals, their sizes, curvatures.")
        .def_prop_ro("width", &LossRows::width);
}

}  // namespace cgens
