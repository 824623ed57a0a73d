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
#include <vector>

#include "matrix_view.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace cgens {

void bind_masters(nb::module_& m);
void bind_stumps(nb::module_& m);
void bind_families(nb::module_& m);

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

}  // namespace cgens
