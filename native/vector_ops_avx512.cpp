// Built with AVX-512 (F, BW, DQ, VL, VPOPCNTDQ), and called only if the processor supports it.
#include <immintrin.h>

#include "vector_ops_lanes.hpp"
#include "vector_ops_losses.hpp"

namespace cgens {
namespace {

// The first or second eight of sixteen signed bytes, as doubles.
template <int Part>
inline __m512d half(__m128i bytes) {
    return _mm512_cvtepi32_pd(_mm256_cvtepi8_epi32(Part == 0 ? bytes : _mm_unpackhi_epi64(bytes, bytes)));
}

inline __m128i load_bytes(const std::int8_t* row) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(row)); }

double dot_i8(const std::int8_t* row, const double* weights, std::size_t n) {
    __m512d low = _mm512_setzero_pd(), high = low;
    for (std::size_t k = 0; k < n; k += kLanes) {
        const __m128i bytes = load_bytes(row + k);
        low = _mm512_add_pd(low, _mm512_mul_pd(half<0>(bytes), _mm512_loadu_pd(weights + k)));
        high = _mm512_add_pd(high, _mm512_mul_pd(half<1>(bytes), _mm512_loadu_pd(weights + k + 8)));
    }
    double lane[kLanes];
    _mm512_storeu_pd(lane, low);
    _mm512_storeu_pd(lane + 8, high);
    return reduce_lanes(lane);
}

void add_i8(double step, const std::int8_t* row, double* weights, std::size_t n) {
    const __m512d steps = _mm512_set1_pd(step);
    for (std::size_t k = 0; k < n; k += kLanes) {
        const __m128i bytes = load_bytes(row + k);
        double* high = weights + k + 8;
        const __m512d first = _mm512_mul_pd(steps, half<0>(bytes)), second = _mm512_mul_pd(steps, half<1>(bytes));
        _mm512_storeu_pd(weights + k, _mm512_add_pd(_mm512_loadu_pd(weights + k), first));
        _mm512_storeu_pd(high, _mm512_add_pd(_mm512_loadu_pd(high), second));
    }
}

void convert_i8(const std::int8_t* row, double* out, std::size_t n) {
    for (std::size_t k = 0; k < n; k += kLanes) {
        const __m128i bytes = load_bytes(row + k);
        _mm512_storeu_pd(out + k, half<0>(bytes));
        _mm512_storeu_pd(out + k + 8, half<1>(bytes));
    }
}

void sum_where_set(const std::uint64_t* words, std::size_t n, const double* weights, double base, double* out) {
    __m512d sums[8];
    for (auto& sum : sums) sum = _mm512_set1_pd(base);
    for (std::size_t j = 0; j < n; ++j) {
        const __m512d w = _mm512_set1_pd(weights[j]);
        for (int k = 0; k < 8; ++k)
            sums[k] = _mm512_mask_add_pd(sums[k], static_cast<__mmask8>(words[j] >> (8 * k)), sums[k], w);
    }
    for (int k = 0; k < 8; ++k) _mm512_storeu_pd(out + 8 * k, sums[k]);
}

void add_where_set(const std::uint64_t* words, std::size_t n, const double* values, double* lanes) {
    __m512d own[8];
    for (int k = 0; k < 8; ++k) own[k] = _mm512_loadu_pd(values + 8 * k);
    constexpr std::size_t kTogether = 4;  // words whose sums hide the latency of each other
    for (std::size_t j = 0; j < n; j += kTogether) {
        const std::size_t last = n - 1;  // which may be summed several times
        __m512d sums[kTogether];
        for (std::size_t w = 0; w < kTogether; ++w) sums[w] = _mm512_loadu_pd(lanes + 8 * std::min(j + w, last));
        for (int k = 0; k < 8; ++k)
            for (std::size_t w = 0; w < kTogether; ++w)
                sums[w] = _mm512_mask_add_pd(sums[w], static_cast<__mmask8>(words[std::min(j + w, last)] >> (8 * k)),
                                             sums[w], own[k]);
        for (std::size_t w = 0; w < kTogether; ++w) _mm512_storeu_pd(lanes + 8 * std::min(j + w, last), sums[w]);
    }
}

void count_differences(const std::uint64_t* words, std::size_t n, std::uint64_t word, std::uint64_t mask, unsigned power,
                       std::uint64_t* counts) {
    const __m512i other = _mm512_set1_epi64(static_cast<long long>(word));
    const __m512i masks = _mm512_set1_epi64(static_cast<long long>(mask));
    for (std::size_t j = 0; j < n; j += 8) {
        const auto used = static_cast<__mmask8>(n - j >= 8 ? 0xff : (1U << (n - j)) - 1);
        const __m512i differ = _mm512_xor_si512(_mm512_maskz_loadu_epi64(used, words + j), other);
        const __m512i bits = _mm512_slli_epi64(_mm512_popcnt_epi64(_mm512_and_si512(differ, masks)), power);
        const __m512i sums = _mm512_add_epi64(_mm512_maskz_loadu_epi64(used, counts + j), bits);
        _mm512_mask_storeu_epi64(counts + j, used, sums);
    }
}

}  // namespace

const VectorOps kAvx512Ops = {
    "avx512",
    dot_i8,
    dot_lanes<float>,
    dot_lanes<double>,
    add_i8,
    add_lanes<float>,
    add_lanes<double>,
    convert_i8,
    step_prices_lanes,
    run_lanes<std::uint16_t, FourIntegers>,
    run_lanes<std::uint32_t, FourIntegers>,
    run_lanes<std::uint16_t, EightIntegers>,
    run_lanes<std::uint32_t, EightIntegers>,
    sum_bins_lanes<std::uint8_t, FourIntegers>,
    sum_bins_lanes<std::uint16_t, FourIntegers>,
    sum_bins_lanes<std::uint32_t, FourIntegers>,
    sum_bins_lanes<std::uint8_t, EightIntegers>,
    sum_bins_lanes<std::uint16_t, EightIntegers>,
    sum_bins_lanes<std::uint32_t, EightIntegers>,
    multiply_rows_lanes,
    add_rows_lanes,
    sum_where_set,
    add_where_set,
    count_differences,
    start_phases_lanes,
    add_phases_lanes,
    cosines_lanes,
    loss_slope_lanes<LogisticLoss>,
    loss_slope_lanes<SmoothHingeLoss>,
    loss_move_lanes<LogisticLoss>,
    loss_move_lanes<SmoothHingeLoss>,
    sum_entropies_lanes,
};

}  // namespace cgens
