// Encoded rows, and cosines of them.
#include "bindings.hpp"
#include "encode_rows.hpp"
#include "respond_cosines.hpp"

namespace cgens {
namespace {

constexpr std::int64_t kMaxLevels = 1 << 24;  // for each level up to the largest there is memory

void require_columns(const Vector<std::int64_t>& columns) {
    for (std::size_t k = 0; k < columns.shape(0); ++k)
        require(columns(k) >= 0 && columns(k) < (1 << 30), "RowEncoder: no such column");
}

// Part k of the entries is begin[k] ... begin[k + 1] - 1.
void require_begin(const Vector<std::int64_t>& begin, std::size_t n, std::size_t n_entries) {
    require(begin.shape(0) == n + 1 && begin(0) == 0 && static_cast<std::size_t>(begin(n)) == n_entries,
            "RowEncoder: begin must go from 0 to the number of entries");
    for (std::size_t k = 0; k < n; ++k) require(begin(k) <= begin(k + 1), "RowEncoder: begin must ascend");
}

void construct_encoder(RowEncoder* self, bool bent, const Vector<std::int64_t>& numbers, const Vector<double>& fill,
                       const Vector<double>& centre, const Vector<double>& scale, const Vector<double>& last_centre,
                       const Vector<double>& last_scale, const Vector<std::int64_t>& knot_begin,
                       const Vector<double>& knots, const Vector<double>& ranks, const Vector<std::int64_t>& gaps,
                       const Vector<std::int64_t>& level_columns, const Vector<std::int64_t>& level_codes,
                       const Vector<std::int64_t>& rare_begin, const Vector<std::int64_t>& rare) {
    const std::size_t n = numbers.shape(0), n_levels = level_columns.shape(0);
    for (const auto* own : {&fill, &centre, &scale, &last_centre, &last_scale})
        require(own->shape(0) == n, "RowEncoder: one entry per column of numbers");
    require(ranks.shape(0) == knots.shape(0) && level_codes.shape(0) == n_levels, "RowEncoder: lengths differ");
    for (const auto* own : {&numbers, &gaps, &level_columns}) require_columns(*own);
    require_begin(knot_begin, n, knots.shape(0));
    for (std::size_t k = 0; k < n; ++k)
        require(knots.shape(0) == 0 || knot_begin(k) < knot_begin(k + 1), "RowEncoder: a column without knots");
    require_begin(rare_begin, n_levels, rare.shape(0));
    for (std::size_t h = 0; h < n_levels; ++h)
        require(level_codes(h) >= -1 && level_codes(h) < kMaxLevels, "RowEncoder: no such level");
    for (std::size_t e = 0; e < rare.shape(0); ++e)
        require(rare(e) >= 0 && rare(e) < kMaxLevels, "RowEncoder: no such rare level");
    new (self) RowEncoder({n, gaps.shape(0), n_levels, numbers.data(), fill.data(), centre.data(), scale.data(), bent,
                           last_centre.data(), last_scale.data(), knot_begin.data(), knots.data(), ranks.data(),
                           gaps.data(), level_columns.data(), level_codes.data(), rare_begin.data(), rare.data()});
}

template <class T>
NewArray<double> transform(const RowEncoder& self, const Matrix<T>& X) {
    require(X.shape(1) >= self.n_columns(), "RowEncoder: X has too few columns");
    auto out = zeros<double>(X.shape(0) * self.n_inputs());
    nb::gil_scoped_release released;
    self.transform(view<T>(X), out.data());
    return out;
}

void construct_cosines(CosineTables* self, const RowEncoder& encoder, const CMatrix<double>& thetas,
                       const Vector<double>& kappas) {
    require(thetas.shape(1) == encoder.n_inputs(), "CosineTables: one theta per input");
    require(kappas.shape(0) == thetas.shape(0), "CosineTables: one kappa per cosine");
    nb::gil_scoped_release released;
    new (self) CosineTables(encoder, thetas.data(), kappas.data(), kappas.shape(0));
}

template <class T>
NewArray<float> respond(const CosineTables& self, const Matrix<T>& X, int n_threads) {
    require(X.shape(1) >= self.n_columns(), "CosineTables: X has too few columns");
    auto out = zeros<float>(X.shape(0) * self.n_cosines());
    nb::gil_scoped_release released;
    self.respond(view<T>(X), out.data(), n_threads);
    return out;
}

template <class T>
NewArray<double> decide(const CosineTables& self, const Matrix<T>& X, const CMatrix<double>& weights, int n_threads) {
    require(X.shape(1) >= self.n_columns(), "CosineTables: X has too few columns");
    require(weights.shape(0) == self.n_cosines(), "CosineTables: one row of weights per cosine");
    auto out = zeros<double>(X.shape(0) * weights.shape(1));
    nb::gil_scoped_release released;
    self.decide(view<T>(X), weights.data(), weights.shape(1), out.data(), n_threads);
    return out;
}

}  // namespace

void bind_cosines(nb::module_& m) {
    nb::class_<RowEncoder>(m, "RowEncoder", "Encodes rows of numbers, gaps and codes of levels as complete numbers.")
        .def("__init__", &construct_encoder, "bent"_a, "numbers"_array, "fill"_array, "centre"_array, "scale"_array,
             "last_centre"_array, "last_scale"_array, "knot_begin"_array, "knots"_array, "ranks"_array, "gaps"_array,
             "level_columns"_array, "level_codes"_array, "rare_begin"_array, "rare"_array)
        .def("transform", &transform<float>, "X"_array, "Return the inputs, of shape (n_rows, n_inputs), flat.")
        .def("transform", &transform<double>, "X"_array);

    nb::class_<CosineTables>(m, "CosineTables", "Cosines of encoded rows, laid out for prediction.")
        .def("__init__", &construct_cosines, "encoder"_a, "thetas"_array, "kappas"_array)
        .def("respond", &respond<float>, "X"_array, "n_threads"_a,
             "Return the responses on new rows, of shape (n_rows, n_cosines), flat.")
        .def("respond", &respond<double>, "X"_array, "n_threads"_a)
        .def("decide", &decide<float>, "X"_array, "weights"_array, "n_threads"_a,
             "Return sum_j w_j h_j(x), of shape (n_rows, n_outputs), flat.")
        .def("decide", &decide<double>, "X"_array, "weights"_array, "n_threads"_a);
}

}  // namespace cgens
