#include "fixed_point.hpp"

#include <vector>

#include "threads.hpp"

namespace cgens {

Extent extent_of(const double* values, std::size_t n, std::size_t stride, int n_threads) {
    constexpr std::size_t kBlock = 16384;
    std::vector<Extent> parts((n + kBlock - 1) / kBlock);
    for_blocks(n, kBlock, n_threads, static_cast<double>(n), [&](std::size_t b, std::size_t first, std::size_t last) {
        parts[b] = Extent::of(values + first * stride, last - first, stride);
    });
    Extent extent;
    for (const Extent& part : parts) extent = extent.with(part);
    return extent;
}

}  // namespace cgens
