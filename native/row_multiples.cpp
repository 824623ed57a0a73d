#include "row_multiples.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace cgens {

RowMultiples::RowMultiples(const std::vector<double>& weights)
    : unit_(*std::min_element(weights.begin(), weights.end())) {
    constexpr double kLargest = 1 << 12;  // beyond it, sums of products are as fast
    std::vector<std::vector<std::uint64_t>> planes;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const double multiple = std::round(weights[i] / unit_);
        if (!(multiple <= kLargest) || multiple * unit_ != weights[i]) return;
        total_ += multiple;
        const auto k = static_cast<std::uint64_t>(multiple);
        for (std::size_t power = 0; k >> power != 0; ++power) {
            if (planes.size() == power) planes.emplace_back((weights.size() + kGroup - 1) / kGroup, 0);
            planes[power][i / kGroup] |= (k >> power & 1) << (i % kGroup);
        }
    }
    planes_ = std::move(planes);
}

std::int64_t RowMultiples::count(const std::vector<std::uint64_t>& packed) const {
    std::int64_t sum = 0;
    for (std::size_t power = 0; power < planes_.size(); ++power)
        for (std::size_t g = 0; g < packed.size(); ++g)
            sum += static_cast<std::int64_t>(__builtin_popcountll(packed[g] & planes_[power][g])) << power;
    return sum;
}

std::vector<std::uint64_t> RowMultiples::count_differences(const SignColumns& columns,
                                                           const std::vector<std::uint64_t>& packed) const {
    std::vector<std::uint64_t> counts(columns.n_columns(), 0);
    for (std::size_t power = 0; power < planes_.size(); ++power)
        columns.count_differences(packed, planes_[power], static_cast<unsigned>(power), counts.data());
    return counts;
}

}  // namespace cgens
