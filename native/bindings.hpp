// What all bindings share: types of NumPy arrays and checks of arguments. Only bindings*.cpp include this.
//
// Arrays are borrowed for one call and never converted: a wrong dtype is an error, not a copy. The GIL is released
// while C++ computes. C++ throws only if its caller broke the contract; invalid user input is rejected in Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>
#include <vector>

#include "matrix_view.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace cgens {

void bind_masters(nb::module_& m);
void bind_stumps(nb::module_& m);
void bind_families(nb::module_& m);
void bind_cosines(nb::module_& m);
void bind_loss_rows(nb::module_& m);

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;
template <class T>
using CMatrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using NewArray = nb::ndarray<nb::numpy, T>;

// The name of an array argument, which is never converted.
inline auto operator""_array(const char* name, std::size_t) { return nb::arg(name).noconvert(); }

template <class T, class Array>
MatrixView<T> view(const Array& matrix) {
    return {matrix.data(), matrix.shape(0), matrix.shape(1), static_cast<std::ptrdiff_t>(matrix.stride(0)),
            static_cast<std::ptrdiff_t>(matrix.stride(1))};
}

template <class T>
std::vector<T> to_vector(const Vector<T>& array) {
    return {array.data(), array.data() + array.shape(0)};
}

// A NumPy array of zeros that owns its memory.
template <class T>
NewArray<T> zeros(std::size_t size) {
    T* owned = new T[size]();
    nb::capsule owner(owned, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return NewArray<T>(owned, {size}, owner);
}

// A copy as a NumPy array.
template <class T>
NewArray<T> to_array(const T* data, std::size_t size) {
    auto array = zeros<T>(size);
    std::copy(data, data + size, array.data());
    return array;
}
template <class T>
NewArray<T> to_array(const std::vector<T>& values) {
    return to_array(values.data(), values.size());
}
// The same without a copy.
template <class T, class Allocator>
NewArray<T> to_array(std::vector<T, Allocator>&& values) {
    auto* owned = new std::vector<T, Allocator>(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T, Allocator>*>(p); });
    return NewArray<T>(owned->data(), {owned->size()}, owner);
}

// Returns compute(), called without the GIL.
template <class Compute>
auto without_gil(Compute compute) {
    nb::gil_scoped_release released;
    return compute();
}

inline void require(bool kept, const char* contract) {
    if (!kept) throw std::invalid_argument(contract);
}

template <class Array>
void require_finite(const Array& values, const char* contract) {
    const double* data = values.data();
    double zero_or_nan = 0.0;  // NaN once a value is not finite
    for (std::size_t k = 0, n = values.size(); k < n; ++k) zero_or_nan += 0 * data[k];
    require(zero_or_nan == 0, contract);
}

// One finite weight > 0 per row.
inline void require_positive(const Vector<double>& weights, std::size_t n_rows, const char* contract) {
    require(weights.shape(0) == n_rows, contract);
    for (std::size_t i = 0; i < n_rows; ++i) require(weights(i) > 0 && std::isfinite(weights(i)), contract);
}

// The levels of split k are levels[level_begin[k]] ... levels[level_begin[k + 1] - 1], ascending.
inline void require_levels(const Vector<std::int64_t>& level_begin, const Vector<std::uint32_t>& levels, std::size_t n) {
    require(level_begin.shape(0) == n + 1 && level_begin(0) == 0 &&
                static_cast<std::size_t>(level_begin(n)) == levels.shape(0),
            "level_begin must go from 0 to the number of levels, with one entry per split and the end");
    for (std::size_t k = 0; k < n; ++k) require(level_begin(k) <= level_begin(k + 1), "level_begin must ascend");
    for (std::size_t k = 0; k < n; ++k)  // now that all are within the levels
        for (std::int64_t e = level_begin(k) + 1; e < level_begin(k + 1); ++e)
            require(levels(static_cast<std::size_t>(e)) > levels(static_cast<std::size_t>(e - 1)),
                    "the levels of a split must ascend");
    for (std::size_t e = 0; e < levels.shape(0); ++e) require(levels(e) < (1u << 24), "levels must be below 2^24");
}

// Part k of a sparse matrix in compressed form has the entries begin[k] ... begin[k + 1] - 1, with ascending indices.
template <class T>
void require_compressed(const Vector<T>& data, const Vector<std::int32_t>& indices, const Vector<std::int64_t>& begin,
                        std::size_t n_indices) {
    require(data.shape(0) == indices.shape(0), "sparse: lengths differ");
    const std::size_t n = begin.shape(0);
    require(n >= 1 && begin(0) == 0 && static_cast<std::size_t>(begin(n - 1)) == data.shape(0),
            "sparse: begin must go from 0 to the number of entries");
    for (std::size_t j = 0; j + 1 < n; ++j) require(begin(j) <= begin(j + 1), "sparse: begin must ascend");
    for (std::size_t j = 0; j + 1 < n; ++j)
        for (auto k = static_cast<std::size_t>(begin(j)); k < static_cast<std::size_t>(begin(j + 1)); ++k)
            require(indices(k) >= 0 && static_cast<std::size_t>(indices(k)) < n_indices &&
                        (k == static_cast<std::size_t>(begin(j)) || indices(k) > indices(k - 1)),
                    "sparse: indices must ascend and be within the matrix");
}

}  // namespace cgens
