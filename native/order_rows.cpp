#include "order_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "mix_bits.hpp"
#include "threads.hpp"

namespace cgens {
namespace {

// Equal numbers get equal bits: float32 and float64 of one value agree, and so do 0.0 and -0.0.
inline std::uint64_t value_bits(double value) {
    value += 0.0;
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

// One entry's part of a row's hash: NH (Black et al., "UMAC", CRYPTO 1999). Parts are added, so any order will do.
inline std::uint64_t entry_hash(std::uint64_t bits, std::uint64_t key) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(bits + key)) *
           static_cast<std::uint32_t>((bits >> 32) + (key >> 32));
}

// Adds the hashes of rows [first, last); columns count from `first_key` on.
template <class T>
void hash_rows(const MatrixView<T>& matrix, std::size_t first_key, std::size_t first, std::size_t last,
               std::uint64_t* hashes) {
    // The loop over the axis that lies closer together in memory goes inside.
    if (std::abs(matrix.column_stride) <= std::abs(matrix.row_stride)) {
        std::vector<std::uint64_t> keys(matrix.n_columns);
        for (std::size_t j = 0; j < keys.size(); ++j) keys[j] = mix_bits(first_key + j);
        for (std::size_t i = first; i < last; ++i) {
            std::uint64_t hash = 0;
            for (std::size_t j = 0; j < keys.size(); ++j)
                hash += entry_hash(value_bits(static_cast<double>(matrix(i, j))), keys[j]);
            hashes[i] += hash;
        }
    } else {
        for (std::size_t j = 0; j < matrix.n_columns; ++j) {
            const std::uint64_t key = mix_bits(first_key + j);
            for (std::size_t i = first; i < last; ++i)
                hashes[i] += entry_hash(value_bits(static_cast<double>(matrix(i, j))), key);
        }
    }
}

// -1, 0 or 1 as row a comes before, equals or comes after row b.
template <class T>
int compare_rows(const MatrixView<T>& matrix, std::size_t a, std::size_t b) {
    for (std::size_t j = 0; j < matrix.n_columns; ++j) {
        if (matrix(a, j) < matrix(b, j)) return -1;
        if (matrix(a, j) > matrix(b, j)) return 1;
    }
    return 0;
}

}  // namespace

template <class T>
RowOrder order_rows(const MatrixView<T>& X, const MatrixView<double>& target, const double* weights, int n_threads) {
    struct Entry {
        std::uint64_t hash;
        double weight;
        std::int64_t row;
    };
    std::vector<std::uint64_t> hashes(X.n_rows, 0);
    constexpr std::size_t kBlock = 256;
    const auto n_blocks = static_cast<std::ptrdiff_t>((X.n_rows + kBlock - 1) / kBlock);
    const double work = static_cast<double>(X.n_rows * X.n_columns);
#pragma omp parallel for schedule(static) num_threads(usable_threads(n_threads, work))
    for (std::ptrdiff_t block = 0; block < n_blocks; ++block) {
        const std::size_t first = static_cast<std::size_t>(block) * kBlock;
        const std::size_t last = std::min(first + kBlock, X.n_rows);
        hash_rows(X, 0, first, last, hashes.data());
        hash_rows(target, X.n_columns, first, last, hashes.data());
    }

    std::vector<Entry> entries;
    entries.reserve(X.n_rows);
    for (std::size_t i = 0; i < X.n_rows; ++i)
        if (weights[i] != 0.0) entries.push_back({mix_bits(hashes[i]), weights[i], static_cast<std::int64_t>(i)});

    // Equal hashes are settled by the contents, so a collision costs time and nothing else. Among identical rows the
    // weights are sorted: their sum then has the same rounding in whatever order they came.
    const auto compare = [&](const Entry& a, const Entry& b) {
        const auto i = static_cast<std::size_t>(a.row), j = static_cast<std::size_t>(b.row);
        const int by_inputs = compare_rows(X, i, j);
        return by_inputs != 0 ? by_inputs : compare_rows(target, i, j);
    };
    std::sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
        if (a.hash != b.hash) return a.hash < b.hash;
        const int order = compare(a, b);
        return order != 0 ? order < 0 : a.weight < b.weight;
    });

    RowOrder result;
    result.position.assign(X.n_rows, -1);
    result.rows.reserve(entries.size());
    result.weights.reserve(entries.size());
    for (std::size_t k = 0; k < entries.size(); ++k) {
        const bool repeats = k > 0 && entries[k].hash == entries[k - 1].hash && compare(entries[k], entries[k - 1]) == 0;
        if (repeats) {
            result.weights.back() += entries[k].weight;
        } else {
            result.rows.push_back(entries[k].row);
            result.weights.push_back(entries[k].weight);
        }
        result.position[static_cast<std::size_t>(entries[k].row)] = static_cast<std::int64_t>(result.rows.size()) - 1;
    }
    return result;
}

template RowOrder order_rows(const MatrixView<float>&, const MatrixView<double>&, const double*, int);
template RowOrder order_rows(const MatrixView<double>&, const MatrixView<double>&, const double*, int);

}  // namespace cgens
