// The one definition of the order of summation, in portable C++. Included by each level's file, which the compiler
// then builds for that level; the unnamed namespace keeps the linker from mixing the levels up.
#pragma once

#include "vector_ops.hpp"

namespace cgens {
namespace {

inline double reduce_lanes(const double* lane) {
    double sum[4];
    for (std::size_t l = 0; l < 4; ++l) sum[l] = (lane[l] + lane[l + 4]) + (lane[l + 8] + lane[l + 12]);
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

template <class T>
double dot_lanes(const T* row, const double* weights, std::size_t n) {
    double lane[kLanes] = {};
    for (std::size_t k = 0; k < n; k += kLanes)
        for (std::size_t l = 0; l < kLanes; ++l) lane[l] += static_cast<double>(row[k + l]) * weights[k + l];
    return reduce_lanes(lane);
}

template <class T>
void add_lanes(double step, const T* row, double* weights, std::size_t n) {
    for (std::size_t k = 0; k < n; ++k) weights[k] += step * static_cast<double>(row[k]);
}

// Entry by entry, so there is no order to keep. The arrays do not overlap.
inline void step_prices_lanes(double step, const double* __restrict along, double* __restrict prices,
                              double* __restrict squares, double* __restrict largest, std::size_t n) {
    for (std::size_t k = 0; k < n; ++k) {
        const double price = prices[k] - step * along[k];
        const double size = price < 0 ? -price : price;
        prices[k] = price;
        squares[k] += price * price;
        largest[k] = largest[k] < size ? size : largest[k];
    }
}

}  // namespace
}  // namespace cgens
