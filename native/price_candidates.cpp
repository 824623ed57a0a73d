#include "price_candidates.hpp"

#include <algorithm>
#include <vector>

#include "threads.hpp"
#include "vector_ops.hpp"

namespace cgens {
namespace {

constexpr std::size_t kRowBlock = 2048;  // duals of nine outputs take 147 KB, which fits a second-level cache
constexpr std::size_t kGroup = 16;       // candidates that share a block of duals
static_assert(kRowBlock % kLanes == 0);

}  // namespace

template <class T>
void price_candidates(const T* responses, std::size_t n_candidates, const double* duals, std::size_t n_outputs,
                      std::size_t n_rows, double* out, int n_threads) {
    const std::size_t width = padded(n_rows);
    std::vector<double> wide(n_outputs * width, 0.0);
    for (std::size_t t = 0; t < n_outputs; ++t)
        std::copy(duals + t * n_rows, duals + (t + 1) * n_rows, wide.data() + t * width);
    std::fill(out, out + n_candidates * n_outputs, 0.0);
    const VectorOps& ops = vector_ops();
    const double work = static_cast<double>(n_candidates * width) * static_cast<double>(n_outputs) / 4;
    for_blocks(n_candidates, kGroup, n_threads, work, [&](std::size_t, std::size_t first, std::size_t last) {
        for (std::size_t at = 0; at < width; at += kRowBlock) {
            const std::size_t n = std::min(kRowBlock, width - at);
            for (std::size_t c = first; c < last; ++c)
                for (std::size_t t = 0; t < n_outputs; ++t)
                    out[c * n_outputs + t] += ops.dot(responses + c * width + at, wide.data() + t * width + at, n);
        }
    });
}

void take_cosines(const double* phases, std::size_t n, float* out, int n_threads) {
    const double work = 3 * static_cast<double>(n);
    for_blocks(n, 4096, n_threads, work, [&](std::size_t, std::size_t first, std::size_t last) {
        vector_ops().cosines(phases + first, out + first, last - first);
    });
}

template void price_candidates(const std::int8_t*, std::size_t, const double*, std::size_t, std::size_t, double*, int);
template void price_candidates(const float*, std::size_t, const double*, std::size_t, std::size_t, double*, int);

}  // namespace cgens
