// Vector kernels for every SIMD level: products of responses and weights, updates of prices, cosines.
//
// All levels add in the same order: sixteen lanes, then ((0+4)+(8+12)) lane by lane, then (0+1)+(2+3), without fused
// multiply-add. Every level therefore returns the same bits, and these kernels do not make a fit depend on the machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cgens {

constexpr std::size_t kLanes = 16;  // rows are padded with zeros to a multiple of this
constexpr std::size_t kBitLanes = 8;  // of sums over set bits: bit b is added to lane b % 8
constexpr std::size_t padded(std::size_t n) { return (n + kLanes - 1) / kLanes * kLanes; }

struct VectorOps {
    const char* name;
    // sum_k row[k] * weights[k]; n is a multiple of kLanes
    double (*dot_i8)(const std::int8_t* row, const double* weights, std::size_t n);
    double (*dot_f32)(const float* row, const double* weights, std::size_t n);
    double (*dot_f64)(const double* row, const double* weights, std::size_t n);
    // weights[k] += step * row[k]
    void (*add_i8)(double step, const std::int8_t* row, double* weights, std::size_t n);
    void (*add_f32)(double step, const float* row, double* weights, std::size_t n);
    void (*add_f64)(double step, const double* row, double* weights, std::size_t n);
    // out[k] = row[k]
    void (*convert_i8)(const std::int8_t* row, double* out, std::size_t n);
    // prices[k] -= step * along[k]; then squares[k] += prices[k]^2 and largest[k] = max(largest[k], |prices[k]|)
    void (*step_prices)(double step, const double* along, double* prices, double* squares, double* largest,
                        std::size_t n);
    // running[8 k + t] = values[8 rows[0] + t] + ... + values[8 rows[k] + t] for eight outputs t
    void (*run_u16)(const std::uint16_t* rows, std::size_t n, const std::int64_t* values, std::int64_t* running);
    void (*run_u32)(const std::uint32_t* rows, std::size_t n, const std::int64_t* values, std::int64_t* running);
    // The same for sixteen outputs of 32 bits.
    void (*run_narrow_u16)(const std::uint16_t* rows, std::size_t n, const std::int32_t* values, std::int32_t* running);
    void (*run_narrow_u32)(const std::uint32_t* rows, std::size_t n, const std::int32_t* values, std::int32_t* running);
    // sums[8 bins[i] + t] += values[8 i + t] for eight outputs t, for each i; and for sixteen outputs of 32 bits
    void (*sum_bins_u8)(const std::uint8_t* bins, std::size_t n, const std::int64_t* values, std::int64_t* sums);
    void (*sum_bins_u16)(const std::uint16_t* bins, std::size_t n, const std::int64_t* values, std::int64_t* sums);
    void (*sum_bins_u32)(const std::uint32_t* bins, std::size_t n, const std::int64_t* values, std::int64_t* sums);
    void (*sum_narrow_u8)(const std::uint8_t* bins, std::size_t n, const std::int32_t* values, std::int32_t* sums);
    void (*sum_narrow_u16)(const std::uint16_t* bins, std::size_t n, const std::int32_t* values, std::int32_t* sums);
    void (*sum_narrow_u32)(const std::uint32_t* bins, std::size_t n, const std::int32_t* values, std::int32_t* sums);
    // out[r * n_outputs + t] = sum_k rows[r * n + k] * weights[t * n + k], in four lanes; n is a multiple of kLanes
    void (*multiply_rows)(const double* rows, std::size_t n_rows, const double* weights, std::size_t n_outputs,
                          std::size_t n, double* out);
    // sums[t * n + k] += sum_r values[r * n_outputs + t] * rows[r * n + k], row after row
    void (*add_rows)(const double* rows, std::size_t n_rows, const double* values, std::size_t n_outputs, std::size_t n,
                     double* sums);
    // Of n words whose bit b belongs to row b of 64 rows, each word being a column:
    // out[b] = base + sum_j weights[j] over the words with bit b, word after word
    void (*sum_where_set)(const std::uint64_t* words, std::size_t n, const double* weights, double base, double* out);
    // lanes[8 j + b % 8] += values[b] for each bit b of word j, in ascending order
    void (*add_where_set)(const std::uint64_t* words, std::size_t n, const double* values, double* lanes);
    // counts[j] += 2^power times the number of bits of `mask` in which word j differs from `word`
    void (*count_differences)(const std::uint64_t* words, std::size_t n, std::uint64_t word, std::uint64_t mask,
                              unsigned power, std::uint64_t* counts);
    // phases[16 i + l] = start[l] + the sum of thetas[16 f + l] over the n_flags[i] entries f of flags from i * stride,
    // one after the other, for sixteen lanes l
    void (*start_phases)(const double* start, const double* thetas, const std::uint32_t* flags, std::size_t stride,
                         const std::uint32_t* n_flags, std::size_t n_rows, double* phases);
    // phases[16 i + l] += the sum of numbers[k * stride + i] * thetas[16 k + l] over n numbers k, one after the other
    void (*add_phases)(const double* numbers, std::size_t stride, std::size_t n, const double* thetas,
                       std::size_t n_rows, double* phases);
    // out[k] = sqrt(2) cos(phases[k])
    void (*cosines)(const double* phases, float* out, std::size_t n);
    // Of n rows of a loss (see LossRows): the sum of the duals times d, with d = along + shift, at f + step d; and the
    // same step taken, with the duals there, and in `sums` the loss, its slack, the duals, their sizes and the curvature
    double (*logistic_slope)(const double* f, const double* along, double shift, double step, const double* scale,
                             double width, std::size_t n);
    double (*hinge_slope)(const double* f, const double* along, double shift, double step, const double* scale,
                          double width, std::size_t n);
    void (*logistic_move)(double* f, const double* along, double shift, double step, const double* scale, double width,
                          std::size_t n, double* duals, double* sums);
    void (*hinge_move)(double* f, const double* along, double shift, double step, const double* scale, double width,
                       std::size_t n, double* duals, double* sums);

    // the sum of c times the entropies of the probabilities multiple |r| / c
    double (*sum_entropies)(const double* duals, const double* scale, double multiple, std::size_t n);

    double dot(const std::int8_t* row, const double* weights, std::size_t n) const { return dot_i8(row, weights, n); }
    double dot(const float* row, const double* weights, std::size_t n) const { return dot_f32(row, weights, n); }
    double dot(const double* row, const double* weights, std::size_t n) const { return dot_f64(row, weights, n); }
    void add(double step, const std::int8_t* row, double* out, std::size_t n) const { add_i8(step, row, out, n); }
    void add(double step, const float* row, double* out, std::size_t n) const { add_f32(step, row, out, n); }
    void add(double step, const double* row, double* out, std::size_t n) const { add_f64(step, row, out, n); }
    void sum_bins(const std::uint8_t* bins, std::size_t n, const std::int64_t* values, std::int64_t* sums) const {
        sum_bins_u8(bins, n, values, sums);
    }
    void sum_bins(const std::uint16_t* bins, std::size_t n, const std::int64_t* values, std::int64_t* sums) const {
        sum_bins_u16(bins, n, values, sums);
    }
    void sum_bins(const std::uint32_t* bins, std::size_t n, const std::int64_t* values, std::int64_t* sums) const {
        sum_bins_u32(bins, n, values, sums);
    }
    void sum_bins(const std::uint8_t* bins, std::size_t n, const std::int32_t* values, std::int32_t* sums) const {
        sum_narrow_u8(bins, n, values, sums);
    }
    void sum_bins(const std::uint16_t* bins, std::size_t n, const std::int32_t* values, std::int32_t* sums) const {
        sum_narrow_u16(bins, n, values, sums);
    }
    void sum_bins(const std::uint32_t* bins, std::size_t n, const std::int32_t* values, std::int32_t* sums) const {
        sum_narrow_u32(bins, n, values, sums);
    }
    void run(const std::uint16_t* rows, std::size_t n, const std::int64_t* values, std::int64_t* running) const {
        run_u16(rows, n, values, running);
    }
    void run(const std::uint32_t* rows, std::size_t n, const std::int64_t* values, std::int64_t* running) const {
        run_u32(rows, n, values, running);
    }
    void run(const std::uint16_t* rows, std::size_t n, const std::int32_t* values, std::int32_t* running) const {
        run_narrow_u16(rows, n, values, running);
    }
    void run(const std::uint32_t* rows, std::size_t n, const std::int32_t* values, std::int32_t* running) const {
        run_narrow_u32(rows, n, values, running);
    }
};

extern const VectorOps kBaselineOps;
#ifdef CGENS_WITH_AVX
extern const VectorOps kAvx2Ops;
extern const VectorOps kAvx512Ops;
#endif

// The best level that this processor supports, unless another one was forced.
const VectorOps& vector_ops();

// The names that `force_vector_ops` accepts on this processor, slowest first.
std::vector<std::string> vector_ops_names();

// For tests: use this level from now on ("" = the best). Throws std::invalid_argument if it is not available.
void force_vector_ops(const std::string& name);

}  // namespace cgens
