#include "price_candidates.hpp"

#include <algorithm>
#include <vector>

#include "threads.hpp"
#include "vector_ops.hpp"

namespace cgens {
namespace {

constexpr std::size_t kRowBlock = 2048;  // duals of nine outputs: 147 KB, which a second-level cache holds
static_assert(kRowBlock % kLanes == 0);

double dot(const VectorOps& ops, const std::int8_t* row, const double* weights, std::size_t n) {
    return ops.dot_i8(row, weights, n);
}
double dot(const VectorOps& ops, const float* row, const double* weights, std::size_t n) {
    return ops.dot_f32(row, weights, n);
}

}  // namespace

template <class T>
void price_candidates(const T* responses, std::size_t n_candidates, std::size_t stride, const double* duals,
                      std::size_t n_outputs, std::size_t n_rows, double* out, int n_threads) {
    const std::size_t width = padded(n_rows);
    std::vector<double> wide(n_outputs * width, 0.0);
    for (std::size_t t = 0; t < n_outputs; ++t)
        std::copy(duals + t * n_rows, duals + (t + 1) * n_rows, wide.data() + t * width);
    std::fill(out, out + n_candidates * n_outputs, 0.0);
    const VectorOps& ops = vector_ops();
    constexpr std::size_t kGroup = 16;  // candidates that share a block of duals
    const auto n_groups = static_cast<std::ptrdiff_t>((n_candidates + kGroup - 1) / kGroup);
    const double work = static_cast<double>(n_candidates * width) * static_cast<double>(n_outputs) / 4;
#pragma omp parallel for schedule(static) num_threads(usable_threads(n_threads, work))
    for (std::ptrdiff_t group = 0; group < n_groups; ++group) {
        const std::size_t first = static_cast<std::size_t>(group) * kGroup;
        const std::size_t last = std::min(first + kGroup, n_candidates);
        for (std::size_t begin = 0; begin < width; begin += kRowBlock) {
            const std::size_t n = std::min(kRowBlock, width - begin);
            for (std::size_t c = first; c < last; ++c)
                for (std::size_t t = 0; t < n_outputs; ++t)
                    out[c * n_outputs + t] +=
                        dot(ops, responses + c * stride + begin, wide.data() + t * width + begin, n);
        }
    }
}

void take_cosines(const double* phases, std::size_t n, float* out, int n_threads) {
    constexpr std::size_t kBlock = 4096;
    const auto n_blocks = static_cast<std::ptrdiff_t>((n + kBlock - 1) / kBlock);
    const VectorOps& ops = vector_ops();
#pragma omp parallel for schedule(static) num_threads(usable_threads(n_threads, 3 * static_cast<double>(n)))
    for (std::ptrdiff_t block = 0; block < n_blocks; ++block) {
        const std::size_t begin = static_cast<std::size_t>(block) * kBlock;
        ops.cosines(phases + begin, out + begin, std::min(kBlock, n - begin));
    }
}

template void price_candidates(const std::int8_t*, std::size_t, std::size_t, const double*, std::size_t, std::size_t,
                               double*, int);
template void price_candidates(const float*, std::size_t, std::size_t, const double*, std::size_t, std::size_t, double*,
                               int);

}  // namespace cgens
