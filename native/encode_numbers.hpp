// The bins of many numbers, given the edges of their feature.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "binned_feature.hpp"

namespace cgens {

// A binary search without branches, which are unpredictable; eight searches hide the latency of each other.
class NumberEncoder {
   public:
    NumberEncoder() = default;
    explicit NumberEncoder(const BinnedFeature& feature) : edges_(feature.thresholds), gap_bin_(feature.gap_bin()) {
        while (half_ < edges_.size() + 1) half_ *= 2;
        edges_.resize(half_, std::numeric_limits<double>::infinity());
        half_ /= 2;
    }

    // out[i] = the number of edges below values[i], or the bin of gaps.
    template <class T, class Bin>
    void encode(const T* values, std::size_t n, Bin* out) const {
        constexpr std::size_t kTogether = 8;
        std::size_t i = 0;
        for (; i + kTogether <= n; i += kTogether) encode_few<kTogether>(values + i, out + i);
        for (; i < n; ++i) encode_few<1>(values + i, out + i);
    }

   private:
    template <std::size_t kTogether, class T, class Bin>
    void encode_few(const T* values, Bin* out) const {
        double x[kTogether];
        std::size_t below[kTogether] = {};
        for (std::size_t k = 0; k < kTogether; ++k) x[k] = static_cast<double>(values[k]);
        const double* const edges = edges_.data();
        for (std::size_t half = half_; half > 0; half /= 2)
            for (std::size_t k = 0; k < kTogether; ++k)
                below[k] += half & (std::size_t{0} - static_cast<std::size_t>(edges[below[k] + half - 1] < x[k]));
        for (std::size_t k = 0; k < kTogether; ++k)
            out[k] = static_cast<Bin>(std::isnan(x[k]) ? gap_bin_ : below[k]);
    }

    std::vector<double> edges_;  // 2^k of them, the last ones infinite
    std::size_t half_ = 1, gap_bin_ = 0;
};

}  // namespace cgens
