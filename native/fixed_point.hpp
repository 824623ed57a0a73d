// Numbers as 64-bit multiples of a common unit 2^-exponent: their sums are exact, in any order.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace cgens {

class FixedPoint {
   public:
    explicit FixedPoint(int exponent = 0)
        : exponent_(exponent),
          // Two factors, as values range from 2^-1074 to 2^1023 and 2^exponent itself may overflow.
          unit_(std::ldexp(1.0, std::min(exponent, 1000))),
          rest_(std::ldexp(1.0, exponent - std::min(exponent, 1000))) {}

    // A unit in which twice any sum of these n values, `stride` apart, stays below 2^62: up to three bits are unused.
    static FixedPoint holding(const double* values, std::size_t n, std::size_t stride = 1) {
        double largest = 0.0;
        for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(values[i * stride]));
        if (largest == 0.0) return FixedPoint();
        return FixedPoint(60 - std::ilogb(largest) - 1 - std::ilogb(static_cast<double>(n)) - 1);
    }

    // A unit in which twice any sum of some of these values stays below 2^31: up to two bits are unused.
    static FixedPoint narrow(const double* values, std::size_t n, std::size_t stride) {
        double largest = 0.0, sum = 0.0;
        for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(values[i * stride]));
        if (largest == 0.0) return FixedPoint();
        // In units of the largest, so that the sum does not overflow; 1/2 for the rounding of each value.
        for (std::size_t i = 0; i < n; ++i) sum += std::abs(values[i * stride]) / largest;
        const double room = 0x1p30 - 0.5 * static_cast<double>(n);
        return FixedPoint(std::ilogb(room / sum) - std::ilogb(largest) - 1);
    }

    std::int64_t round(double value) const { return std::llrint(value * unit_ * rest_); }
    double value(double units) const { return std::ldexp(units, -exponent_); }

   private:
    int exponent_;
    double unit_, rest_;
};

}  // namespace cgens
