// Built with -mavx2, and called only if the processor supports it.
#include <immintrin.h>

#include "vector_ops_lanes.hpp"
#include "vector_ops_losses.hpp"

namespace cgens {
namespace {

// The `Part`-th four of sixteen signed bytes, as doubles. Written by hand: the compiler's own conversion of bytes to
// doubles takes three shuffles and is three times slower.
template <int Part>
inline __m256d quarter(__m128i bytes) {
    return _mm256_cvtepi32_pd(_mm_cvtepi8_epi32(_mm_shuffle_epi32(bytes, Part)));
}

double dot_i8(const std::int8_t* row, const double* weights, std::size_t n) {
    __m256d a = _mm256_setzero_pd(), b = a, c = a, d = a;
    for (std::size_t k = 0; k < n; k += kLanes) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(row + k));
        a = _mm256_add_pd(a, _mm256_mul_pd(quarter<0>(bytes), _mm256_loadu_pd(weights + k)));
        b = _mm256_add_pd(b, _mm256_mul_pd(quarter<1>(bytes), _mm256_loadu_pd(weights + k + 4)));
        c = _mm256_add_pd(c, _mm256_mul_pd(quarter<2>(bytes), _mm256_loadu_pd(weights + k + 8)));
        d = _mm256_add_pd(d, _mm256_mul_pd(quarter<3>(bytes), _mm256_loadu_pd(weights + k + 12)));
    }
    double lane[kLanes];
    _mm256_storeu_pd(lane, a);
    _mm256_storeu_pd(lane + 4, b);
    _mm256_storeu_pd(lane + 8, c);
    _mm256_storeu_pd(lane + 12, d);
    return reduce_lanes(lane);
}

inline void add_quarter(double* weights, __m256d values, __m256d step) {
    _mm256_storeu_pd(weights, _mm256_add_pd(_mm256_loadu_pd(weights), _mm256_mul_pd(step, values)));
}

void add_i8(double step, const std::int8_t* row, double* weights, std::size_t n) {
    const __m256d steps = _mm256_set1_pd(step);
    for (std::size_t k = 0; k < n; k += kLanes) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(row + k));
        add_quarter(weights + k, quarter<0>(bytes), steps);
        add_quarter(weights + k + 4, quarter<1>(bytes), steps);
        add_quarter(weights + k + 8, quarter<2>(bytes), steps);
        add_quarter(weights + k + 12, quarter<3>(bytes), steps);
    }
}

void convert_i8(const std::int8_t* row, double* out, std::size_t n) {
    for (std::size_t k = 0; k < n; k += kLanes) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(row + k));
        _mm256_storeu_pd(out + k, quarter<0>(bytes));
        _mm256_storeu_pd(out + k + 4, quarter<1>(bytes));
        _mm256_storeu_pd(out + k + 8, quarter<2>(bytes));
        _mm256_storeu_pd(out + k + 12, quarter<3>(bytes));
    }
}

}  // namespace

const VectorOps kAvx2Ops = {
    "avx2",
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
    sum_where_set_lanes,
    add_where_set_lanes,
    count_differences_lanes,
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
