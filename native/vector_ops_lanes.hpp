// The single definition of the order of summation, in portable C++. The file of each SIMD level includes it and is
// compiled for that level; the unnamed namespace keeps the linker from merging the levels.
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

// Works entry by entry, so there is no order of summation. The arrays do not overlap.
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

// For |r| <= 1/2, cos(2 pi r) is a polynomial in r^2 (interpolated at Chebyshev nodes, error below 1e-14). It gives the
// same bits on every machine, which the C library's cosine does not guarantee, in a fifth of the time.
inline void cosines_lanes(const double* __restrict phases, float* __restrict out, std::size_t n) {
    constexpr double kTurns = 0.15915494309189535;  // 1 / (2 pi)
    constexpr double kWhole = 6755399441055744.0;   // 1.5 * 2^52: adding it rounds to a whole number
    constexpr double kSqrt2 = 1.4142135623730951;
    for (std::size_t k = 0; k < n; ++k) {
        const double turns = phases[k] * kTurns;
        double r = turns - ((turns + kWhole) - kWhole);
        r = r < 0.5 ? r : 0.5;  // for NaN, and beyond 2^51 turns
        r = r > -0.5 ? r : -0.5;
        const double z = r * r;
        double sum = -0.03197288513183594;
        sum = sum * z + 0.27973246574401855;
        sum = sum * z + -1.713736067712307;
        sum = sum * z + 7.903422225546089;
        sum = sum * z + -26.426244477557333;
        sum = sum * z + 60.24464056710631;
        sum = sum * z + -85.45681717667905;
        sum = sum * z + 64.93939402210758;
        sum = sum * z + -19.73920880217477;
        sum = sum * z + 0.9999999999999956;
        out[k] = static_cast<float>(kSqrt2 * sum);
    }
}

}  // namespace
}  // namespace cgens
