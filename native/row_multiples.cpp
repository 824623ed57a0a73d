#include "row_multiples.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "threads.hpp"

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
                                                           const std::vector<std::uint64_t>& packed,
                                                           int n_threads) const {
    constexpr std::size_t kBlock = 1024;  // groups whose words are counted by one thread
    const std::size_t n = columns.n_columns();
    std::vector<std::uint64_t> parts((columns.n_groups() + kBlock - 1) / kBlock * n, 0);
    const double work = static_cast<double>(columns.n_groups() * n * planes_.size());
    for_blocks(columns.n_groups(), kBlock, n_threads, work, [&](std::size_t b, std::size_t first, std::size_t last) {
        for (std::size_t power = 0; power < planes_.size(); ++power)
            columns.count_differences(first, last, packed, planes_[power], static_cast<unsigned>(power),
                                      parts.data() + b * n);
    });
    for (std::size_t at = n; at < parts.size(); ++at) parts[at % n] += parts[at];
    parts.resize(n);
    return parts;
}

}  // namespace cgens
