// What the seam is made of: NumPy arrays in, NumPy arrays out. Only bindings*.cpp include this, and know Python.
//
// Arrays are borrowed for one call and never converted (`noconvert`): a wrong dtype is an error, not a copy. The GIL
// is released while C++ works. C++ throws only where its caller broke the contract; users' mistakes are refused in
// Python, with a sentence.
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

inline void require(bool kept, const char* contract) {
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

inline void require_finite(const double* values, std::size_t size, const char* contract) {
    double nothing = 0.0;  // stays 0 where all values are finite, else becomes NaN
    for (std::size_t k = 0; k < size; ++k) nothing += 0 * values[k];
    require(nothing == 0, contract);
}

inline NewArray<double> to_array(const std::vector<double>& values) { return new_array(values.data(), values.size()); }

}  // namespace cgens
