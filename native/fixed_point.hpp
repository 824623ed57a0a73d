// Numbers as 64-bit multiples of a common unit 2^-exponent: their sums are exact, in any order.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace cgens {

// The size of some values: the largest one, and the sum of all divided by it, which does not overflow.
struct Extent {
    double largest = 0.0, relative_sum = 0.0;

    // Of n values, `stride` apart.
    static Extent of(const double* values, std::size_t n, std::size_t stride = 1) {
        Extent extent;
        double sum = 0.0;
        for (std::size_t i = 0; i < n; ++i) {
            const double size = std::abs(values[i * stride]);
            extent.largest = std::max(extent.largest, size);
            sum += size;
        }
        if (sum > 1e-200 && sum < 1e200) {
            extent.relative_sum = sum / extent.largest;
        } else {
            for (std::size_t i = 0; i < n && extent.largest > 0; ++i)
                extent.relative_sum += std::abs(values[i * stride]) / extent.largest;
        }
        return extent;
    }
    // Of these values and others.
    Extent with(const Extent& other) const {
        Extent both{std::max(largest, other.largest), 0.0};
        for (const Extent& own : {*this, other})
            if (own.largest > 0) both.relative_sum += own.relative_sum * (own.largest / both.largest);
        return both;
    }
};
// The same in parallel.
Extent extent_of(const double* values, std::size_t n, std::size_t stride, int n_threads);

class FixedPoint {
   public:
    explicit FixedPoint(int exponent = 0)
        : exponent_(exponent),
          // Two factors, as values range from 2^-1074 to 2^1023 and 2^exponent itself may overflow.
          unit_(std::ldexp(1.0, std::min(exponent, 1000))),
          rest_(std::ldexp(1.0, exponent - std::min(exponent, 1000))) {}

    // A unit in which twice any sum of n values of this extent stays below 2^62: up to three bits are unused.
    static FixedPoint holding(const Extent& extent, std::size_t n) {
        if (extent.largest == 0.0) return FixedPoint();
        return FixedPoint(60 - std::ilogb(extent.largest) - 1 - std::ilogb(static_cast<double>(n)) - 1);
    }

    // A unit in which twice any sum of some of these values stays below 2^31: up to two bits are unused.
    static FixedPoint narrow(const Extent& extent, std::size_t n) {
        if (extent.largest == 0.0) return FixedPoint();
        const double room = 0x1p30 - 0.5 * static_cast<double>(n);  // 1/2 for the rounding of each value
        return FixedPoint(std::ilogb(room / extent.relative_sum) - std::ilogb(extent.largest) - 1);
    }

    std::int64_t round(double value) const { return std::llrint(value * unit_ * rest_); }
    double value(double units) const { return std::ldexp(units, -exponent_); }

   private:
    int exponent_;
    double unit_, rest_;
};

}  // namespace cgens
