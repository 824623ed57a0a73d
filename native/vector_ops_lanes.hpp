// The single definition of the order of summation, in portable C++. The file of each SIMD level includes it and is
// compiled for that level; the unnamed namespace keeps the linker from merging the levels.
#pragma once

#include <algorithm>
#include <cstring>

#include "vector_ops.hpp"

namespace cgens {
namespace {

inline double reduce_lanes(const double* lane) {
    double sum[4];
    for (std::size_t l = 0; l < 4; ++l) sum[l] = (lane[l] + lane[l + 4]) + (lane[l + 8] + lane[l + 12]);
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

template <class T>
double dot_lanes(const T* row, const double* weights, std::size_t n) {
    double lane[kLanes] = {};
    for (std::size_t k = 0; k < n; k += kLanes)
        for (std::size_t l = 0; l < kLanes; ++l) lane[l] += static_cast<double>(row[k + l]) * weights[k + l];
    return reduce_lanes(lane);
}

template <class T>
void add_lanes(double step, const T* row, double* weights, std::size_t n) {
    for (std::size_t k = 0; k < n; ++k) weights[k] += step * static_cast<double>(row[k]);
}

inline void convert_lanes(const std::int8_t* row, double* out, std::size_t n) { std::copy(row, row + n, out); }

// Works entry by entry, so there is no order of summation. The arrays do not overlap.
inline void step_prices_lanes(double step, const double* __restrict along, double* __restrict prices,
                              double* __restrict squares, double* __restrict largest, std::size_t n) {
    for (std::size_t k = 0; k < n; ++k) {
        const double price = prices[k] - step * along[k];
        const double size = price < 0 ? -price : price;
        prices[k] = price;
        squares[k] += price * price;
        largest[k] = largest[k] < size ? size : largest[k];
    }
}

// Vectors of the compiler, which keeps them in registers at every level; arrays of lanes it would keep in memory.
using FourDoubles = double __attribute__((vector_size(32)));
using FourIntegers = std::int64_t __attribute__((vector_size(32)));
using EightIntegers = std::int32_t __attribute__((vector_size(32)));

template <class Vector, class T>
inline Vector load(const T* from) {
    Vector loaded;
    std::memcpy(&loaded, from, sizeof loaded);
    return loaded;
}

template <class Vector, class T>
inline void store(const Vector& vector, T* to) {
    std::memcpy(to, &vector, sizeof vector);
}

// 64 bytes per row: eight values of 64 bits, or sixteen of 32.
template <class Row, class Vector, class Value>
void run_lanes(const Row* rows, std::size_t n, const Value* values, Value* running) {
    constexpr std::size_t kHalf = sizeof(Vector) / sizeof(Value);
    Vector low{}, high{};
    for (std::size_t k = 0; k < n; ++k) {
        const Value* own = values + 2 * kHalf * static_cast<std::size_t>(rows[k]);
        low += load<Vector>(own);
        high += load<Vector>(own + kHalf);
        std::memcpy(running + 2 * kHalf * k, &low, sizeof low);
        std::memcpy(running + 2 * kHalf * k + kHalf, &high, sizeof high);
    }
}

template <class Bin, class Vector, class Value>
void sum_bins_lanes(const Bin* bins, std::size_t n, const Value* values, Value* sums) {
    constexpr std::size_t kHalf = sizeof(Vector) / sizeof(Value);
    for (std::size_t i = 0; i < n; ++i) {
        Value* own = sums + 2 * kHalf * static_cast<std::size_t>(bins[i]);
        const Value* value = values + 2 * kHalf * i;
        store(load<Vector>(own) + load<Vector>(value), own);
        store(load<Vector>(own + kHalf) + load<Vector>(value + kHalf), own + kHalf);
    }
}

// The products of two rows and up to four outputs share their loads.
template <std::size_t Outputs>
void multiply_two(const double* first, const double* second, const double* weights, std::size_t n, double* out,
                  double* out_second) {
    FourDoubles a[Outputs] = {}, b[Outputs] = {};
    for (std::size_t k = 0; k < n; k += 4) {
        const auto x = load<FourDoubles>(first + k), y = load<FourDoubles>(second + k);
        for (std::size_t t = 0; t < Outputs; ++t) {
            const auto w = load<FourDoubles>(weights + t * n + k);
            a[t] += x * w;
            b[t] += y * w;
        }
    }
    for (std::size_t t = 0; t < Outputs; ++t) {
        out[t] = (a[t][0] + a[t][1]) + (a[t][2] + a[t][3]);
        out_second[t] = (b[t][0] + b[t][1]) + (b[t][2] + b[t][3]);
    }
}

inline void multiply_rows_lanes(const double* rows, std::size_t n_rows, const double* weights, std::size_t n_outputs,
                                std::size_t n, double* out) {
    for (std::size_t r = 0; r < n_rows; r += 2) {
        const std::size_t s = std::min(r + 1, n_rows - 1);  // the last row may be multiplied twice
        const double *x = rows + r * n, *y = rows + s * n;
        double *to_x = out + r * n_outputs, *to_y = out + s * n_outputs;
        std::size_t t = 0;
        for (; t + 4 <= n_outputs; t += 4) multiply_two<4>(x, y, weights + t * n, n, to_x + t, to_y + t);
        for (; t < n_outputs; ++t) multiply_two<1>(x, y, weights + t * n, n, to_x + t, to_y + t);
    }
}

inline void add_rows_lanes(const double* rows, std::size_t n_rows, const double* values, std::size_t n_outputs,
                           std::size_t n, double* sums) {
    std::size_t r = 0;
    for (; r + 4 <= n_rows; r += 4) {
        const double *x0 = rows + r * n, *x1 = x0 + n, *x2 = x1 + n, *x3 = x2 + n;
        for (std::size_t t = 0; t < n_outputs; ++t) {
            const double *v = values + r * n_outputs + t;
            const double v0 = v[0], v1 = v[n_outputs], v2 = v[2 * n_outputs], v3 = v[3 * n_outputs];
            double* own = sums + t * n;
            for (std::size_t k = 0; k < n; k += 4) {
                auto sum = load<FourDoubles>(own + k);
                sum += v0 * load<FourDoubles>(x0 + k);
                sum += v1 * load<FourDoubles>(x1 + k);
                sum += v2 * load<FourDoubles>(x2 + k);
                sum += v3 * load<FourDoubles>(x3 + k);
                std::memcpy(own + k, &sum, sizeof sum);
            }
        }
    }
    for (; r < n_rows; ++r)
        for (std::size_t t = 0; t < n_outputs; ++t) add_lanes(values[r * n_outputs + t], rows + r * n, sums + t * n, n);
}

// Four rows at a time: a mask of all ones keeps a weight, one of zeros makes it +0. Sums never are -0, so adding +0
// changes none of them.
inline FourIntegers mask_of(std::uint64_t four_bits) {
    const FourIntegers bits = {1, 2, 4, 8};
    const auto word = static_cast<std::int64_t>(four_bits);
    return (FourIntegers{word, word, word, word} & bits) == bits;
}

inline FourDoubles where_set(FourIntegers mask, FourDoubles values) {
    FourIntegers bits;
    std::memcpy(&bits, &values, sizeof bits);
    bits &= mask;
    std::memcpy(&values, &bits, sizeof bits);
    return values;
}

inline void sum_where_set_lanes(const std::uint64_t* words, std::size_t n, const double* weights, double base,
                                double* out) {
    constexpr std::size_t kPart = 32;  // rows whose sums stay in registers
    for (std::size_t first = 0; first < 64; first += kPart) {
        FourDoubles sums[kPart / 4];
        for (auto& sum : sums) sum = FourDoubles{base, base, base, base};
        for (std::size_t j = 0; j < n; ++j) {
            const std::uint64_t word = words[j] >> first;
            const double w = weights[j];
            const FourDoubles all = {w, w, w, w};
            for (std::size_t k = 0; k < kPart / 4; ++k) sums[k] += where_set(mask_of(word >> (4 * k)), all);
        }
        std::memcpy(out + first, sums, sizeof sums);
    }
}

inline void add_where_set_lanes(const std::uint64_t* words, std::size_t n, const double* values, double* lanes) {
    for (std::size_t j = 0; j < n; ++j) {
        const std::uint64_t word = words[j];
        auto low = load<FourDoubles>(lanes + 8 * j), high = load<FourDoubles>(lanes + 8 * j + 4);
        for (std::size_t b = 0; b < 64; b += 8) {
            low += where_set(mask_of(word >> b), load<FourDoubles>(values + b));
            high += where_set(mask_of(word >> (b + 4)), load<FourDoubles>(values + b + 4));
        }
        std::memcpy(lanes + 8 * j, &low, sizeof low);
        std::memcpy(lanes + 8 * j + 4, &high, sizeof high);
    }
}

inline void count_differences_lanes(const std::uint64_t* words, std::size_t n, std::uint64_t word, std::uint64_t mask,
                                    unsigned power, std::uint64_t* counts) {
    for (std::size_t j = 0; j < n; ++j)
        counts[j] += static_cast<std::uint64_t>(__builtin_popcountll((words[j] ^ word) & mask)) << power;
}

// As many doubles as a register of the level holds: sums of sixteen lanes then stay in registers.
#if defined(__AVX512F__)
using Doubles = double __attribute__((vector_size(64)));
constexpr std::size_t kPhaseRows = 4;  // rows that share the loads of thetas
#elif defined(__AVX__)
using Doubles = double __attribute__((vector_size(32)));
constexpr std::size_t kPhaseRows = 2;
#else
using Doubles = double __attribute__((vector_size(16)));
constexpr std::size_t kPhaseRows = 1;
#endif
constexpr std::size_t kWide = sizeof(Doubles) / sizeof(double), kParts = kLanes / kWide;

inline void start_phases_lanes(const double* start, const double* thetas, const std::uint32_t* flags,
                               std::size_t stride, const std::uint32_t* n_flags, std::size_t n_rows, double* phases) {
    for (std::size_t i = 0; i < n_rows; ++i) {
        Doubles sums[kParts];
        for (std::size_t p = 0; p < kParts; ++p) sums[p] = load<Doubles>(start + p * kWide);
        for (std::size_t f = 0; f < n_flags[i]; ++f) {
            const double* own = thetas + kLanes * flags[i * stride + f];
            for (std::size_t p = 0; p < kParts; ++p) sums[p] += load<Doubles>(own + p * kWide);
        }
        for (std::size_t p = 0; p < kParts; ++p) store(sums[p], phases + i * kLanes + p * kWide);
    }
}

template <std::size_t Rows>
void add_phases_of(const double* numbers, std::size_t stride, std::size_t n, const double* thetas, double* phases) {
    Doubles sums[Rows][kParts];
    for (std::size_t r = 0; r < Rows; ++r)
        for (std::size_t p = 0; p < kParts; ++p) sums[r][p] = load<Doubles>(phases + r * kLanes + p * kWide);
    for (std::size_t k = 0; k < n; ++k) {
        for (std::size_t p = 0; p < kParts; ++p) {
            const auto theta = load<Doubles>(thetas + k * kLanes + p * kWide);
            for (std::size_t r = 0; r < Rows; ++r) sums[r][p] += numbers[k * stride + r] * theta;
        }
    }
    for (std::size_t r = 0; r < Rows; ++r)
        for (std::size_t p = 0; p < kParts; ++p) store(sums[r][p], phases + r * kLanes + p * kWide);
}

inline void add_phases_lanes(const double* numbers, std::size_t stride, std::size_t n, const double* thetas,
                             std::size_t n_rows, double* phases) {
    std::size_t i = 0;
    for (; i + kPhaseRows <= n_rows; i += kPhaseRows)
        add_phases_of<kPhaseRows>(numbers + i, stride, n, thetas, phases + i * kLanes);
    for (; i < n_rows; ++i) add_phases_of<1>(numbers + i, stride, n, thetas, phases + i * kLanes);
}

// For |r| <= 1/2, cos(2 pi r) is a polynomial in r^2 (interpolated at Chebyshev nodes, error below 1e-14). It gives the
// same bits on every machine, which the C library's cosine does not guarantee, in a small part of the time. Vectors are
// explicit because compilers make a branch of the bounds on r.
inline Doubles cosines_of(Doubles phases) {
    constexpr double kTurns = 0.15915494309189535;  // 1 / (2 pi)
    constexpr double kWhole = 6755399441055744.0;   // 1.5 * 2^52: adding it rounds to a whole number
    constexpr double kSqrt2 = 1.4142135623730951;
    const Doubles half = Doubles{} + 0.5;
    const Doubles turns = phases * kTurns;
    Doubles r = turns - ((turns + kWhole) - kWhole);
    r = r < half ? r : half;  // for NaN, and beyond 2^51 turns
    r = r > -half ? r : -half;
    const Doubles z = r * r;
    Doubles sum = z * -0.03197288513183594 + 0.27973246574401855;
    sum = sum * z + -1.713736067712307;
    sum = sum * z + 7.903422225546089;
    sum = sum * z + -26.426244477557333;
    sum = sum * z + 60.24464056710631;
    sum = sum * z + -85.45681717667905;
    sum = sum * z + 64.93939402210758;
    sum = sum * z + -19.73920880217477;
    sum = sum * z + 0.9999999999999956;
    return kSqrt2 * sum;
}

inline void cosines_lanes(const double* phases, float* out, std::size_t n) {
    using Floats = float __attribute__((vector_size(sizeof(Doubles) / 2)));
    std::size_t k = 0;
    for (; k + kWide <= n; k += kWide) {
        const Floats found = __builtin_convertvector(cosines_of(load<Doubles>(phases + k)), Floats);
        store(found, out + k);
    }
    Doubles rest{};
    for (std::size_t l = 0; k + l < n; ++l) rest[l] = phases[k + l];
    rest = cosines_of(rest);
    for (; k < n; ++k) out[k] = static_cast<float>(rest[k % kWide]);
}

}  // namespace
}  // namespace cgens
