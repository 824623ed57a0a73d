#include "sign_columns.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace cgens {
namespace {

template <class T>
std::uint64_t pack_bits(const T* values, std::size_t n) {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < n; ++i) word |= static_cast<std::uint64_t>(values[i] > 0) << i;
    return word;
}

// Eight bytes of +-1 at a time: the product gathers the inverted sign bits in the highest byte.
std::uint64_t pack_bits(const std::int8_t* values, std::size_t n) {
    if (n < kGroup) return pack_bits<std::int8_t>(values, n);
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < kGroup; i += 8) {
        std::uint64_t bytes = 0;
        for (std::size_t k = 0; k < 8; ++k)
            bytes |= static_cast<std::uint64_t>(static_cast<std::uint8_t>(values[i + k])) << (8 * k);
        word |= ((~bytes & 0x8080808080808080) >> 7) * 0x0102040810204080 >> 56 << i;
    }
    return word;
}

}  // namespace

template <class T>
std::vector<std::uint64_t> SignColumns::pack(const T* column, std::size_t n_rows) {
    std::vector<std::uint64_t> packed((n_rows + kGroup - 1) / kGroup);
    for (std::size_t g = 0; g < packed.size(); ++g) {
        const T* own = column + g * kGroup;
        const std::size_t n = std::min(kGroup, n_rows - g * kGroup);
        bool others = false;
        for (std::size_t i = 0; i < n; ++i) others |= (own[i] != T{1}) & (own[i] != T{-1});
        if (others) return {};
        packed[g] = pack_bits(own, n);
    }
    return packed;
}

template std::vector<std::uint64_t> SignColumns::pack(const std::int8_t*, std::size_t);
template std::vector<std::uint64_t> SignColumns::pack(const float*, std::size_t);
template std::vector<std::uint64_t> SignColumns::pack(const double*, std::size_t);

void SignColumns::append(const std::vector<std::uint64_t>& packed) {
    if (n_columns_ == stride_) {
        // Growing by half keeps the copying linear.
        const std::size_t grown = std::max<std::size_t>(64, stride_ + stride_ / 2);
        LargeVector<std::uint64_t> wider(n_groups() * grown);
        for (std::size_t g = 0; g < n_groups(); ++g)
            std::copy(group(g), group(g) + n_columns_, wider.data() + g * grown);
        words_ = std::move(wider);
        stride_ = grown;
    }
    for (std::size_t g = 0; g < n_groups(); ++g) words_[g * stride_ + n_columns_] = packed[g];
    ++n_columns_;
}

void SignColumns::dot_rows(std::size_t first, std::size_t last, const double* weights, std::size_t n,
                           double* out) const {
    std::vector<double> twice(n_columns_);
    double sums[kGroup];
    for (std::size_t t = 0; t < n; ++t) {
        const double* own = weights + t * padded_columns();
        const double base = 0.0 - std::accumulate(own, own + n_columns_, 0.0);
        for (std::size_t j = 0; j < n_columns_; ++j) twice[j] = 2 * own[j];
        for (std::size_t i = first; i < last; i += kGroup) {
            vector_ops().sum_where_set(group(i / kGroup), n_columns_, twice.data(), base, sums);
            const std::size_t n_rows = std::min(kGroup, last - i);
            for (std::size_t r = 0; r < n_rows; ++r) out[(i - first + r) * n + t] = sums[r];
        }
    }
}

void SignColumns::add_rows(std::size_t first, std::size_t last, const double* steps, std::size_t n,
                           double* weights) const {
    std::vector<double> lanes(n_columns_ * kBitLanes);
    for (std::size_t t = 0; t < n; ++t) {
        std::fill(lanes.begin(), lanes.end(), 0.0);
        double total = 0.0;
        for (std::size_t i = first; i < last; i += kGroup) {
            double values[kGroup] = {};
            const std::size_t n_rows = std::min(kGroup, last - i);
            for (std::size_t r = 0; r < n_rows; ++r) total += values[r] = steps[(i - first + r) * n + t];
            vector_ops().add_where_set(group(i / kGroup), n_columns_, values, lanes.data());
        }
        double* own = weights + t * padded_columns();
        for (std::size_t j = 0; j < n_columns_; ++j) {
            const double* l = lanes.data() + j * kBitLanes;
            own[j] += 2 * (((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]))) - total;
        }
    }
}

void SignColumns::copy_row(std::size_t row, double* out) const {
    const std::uint64_t* words = group(row / kGroup);
    for (std::size_t j = 0; j < n_columns_; ++j) out[j] = (words[j] >> (row % kGroup) & 1) != 0 ? 1.0 : -1.0;
    std::fill(out + n_columns_, out + padded_columns(), 0.0);
}

void SignColumns::copy_column(std::size_t j, std::int8_t* out) const {
    for (std::size_t i = 0; i < n_rows_; ++i)
        out[i] = (group(i / kGroup)[j] >> (i % kGroup) & 1) != 0 ? std::int8_t{1} : std::int8_t{-1};
}

void SignColumns::count_differences(std::size_t first, std::size_t last, const std::vector<std::uint64_t>& packed,
                                    const std::vector<std::uint64_t>& mask, unsigned power,
                                    std::uint64_t* counts) const {
    for (std::size_t g = first; g < last; ++g)
        if (mask[g] != 0) vector_ops().count_differences(group(g), n_columns_, packed[g], mask[g], power, counts);
}

}  // namespace cgens
