#include "order_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "mix_bits.hpp"
#include "threads.hpp"

namespace cgens {
namespace {

// Equal numbers have equal bits: float32 and float64 of one value, 0.0 and -0.0, and all gaps (NaN).
inline std::uint64_t value_bits(double value) {
    if (value != value) return std::uint64_t{0x7ff8} << 48;
    value += 0.0;
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

// One entry's part of the hash of a row: NH (Black et al., "UMAC", CRYPTO 1999). The parts can be added in any order.
inline std::uint64_t entry_hash(std::uint64_t bits, std::uint64_t key) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(bits + key)) *
           static_cast<std::uint32_t>((bits >> 32) + (key >> 32));
}

// Adds the hashes of rows [first, last); the keys of the columns start at `first_key`.
template <class T>
void hash_rows(const MatrixView<T>& matrix, std::size_t first_key, std::size_t first, std::size_t last,
               std::uint64_t* hashes) {
    // The inner loop is over the axis with the smaller stride.
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

// The same for compressed rows: the hash of a row of zeros, plus the difference that each stored entry makes.
template <class T>
void hash_rows(const SparseView<T>& matrix, std::size_t first_key, std::size_t first, std::size_t last,
               std::uint64_t* hashes) {
    std::uint64_t zeros = 0;
    for (std::size_t j = 0; j < matrix.n_columns; ++j) zeros += entry_hash(0, mix_bits(first_key + j));
    for (std::size_t i = first; i < last; ++i) {
        hashes[i] += zeros;
        for (std::int64_t k = matrix.begin[i]; k < matrix.begin[i + 1]; ++k) {
            const std::uint64_t key = mix_bits(first_key + static_cast<std::size_t>(matrix.indices[k]));
            hashes[i] += entry_hash(value_bits(static_cast<double>(matrix.data[k])), key) - entry_hash(0, key);
        }
    }
}

// -1, 0 or 1 if a value comes before, equals or comes after another; gaps come last.
template <class T>
int compare(T a, T b) {
    if (a != a || b != b) return (a != a) - (b != b);
    return (a > b) - (a < b);
}

// The same for rows.
template <class T>
int compare_rows(const MatrixView<T>& matrix, std::size_t a, std::size_t b) {
    for (std::size_t j = 0; j < matrix.n_columns; ++j)
        if (const int order = compare(matrix(a, j), matrix(b, j))) return order;
    return 0;
}

template <class T>
int compare_rows(const SparseView<T>& matrix, std::size_t a, std::size_t b) {
    std::int64_t i = matrix.begin[a], j = matrix.begin[b];
    while (i < matrix.begin[a + 1] || j < matrix.begin[b + 1]) {
        constexpr std::int32_t kEnd = std::numeric_limits<std::int32_t>::max();
        const std::int32_t own = i < matrix.begin[a + 1] ? matrix.indices[i] : kEnd;
        const std::int32_t other = j < matrix.begin[b + 1] ? matrix.indices[j] : kEnd;
        const T x = own <= other ? matrix.data[i++] : T{0}, y = other <= own ? matrix.data[j++] : T{0};
        if (const int order = compare(x, y)) return order;
    }
    return 0;
}

}  // namespace

template <class Matrix>
RowOrder order_rows(const Matrix& X, const MatrixView<double>& target, const double* weights, int n_threads) {
    struct Entry {
        std::uint64_t hash;
        double weight;
        std::int64_t row;
    };
    std::vector<std::uint64_t> hashes(X.n_rows, 0);
    const double work = static_cast<double>(X.n_rows * X.n_columns);
    const std::size_t block = std::max<std::size_t>(256, X.n_columns / 64);  // zeros are hashed once in each
    for_blocks(X.n_rows, block, n_threads, work, [&](std::size_t, std::size_t first, std::size_t last) {
        hash_rows(X, 0, first, last, hashes.data());
        hash_rows(target, X.n_columns, first, last, hashes.data());
    });

    std::vector<Entry> entries;
    entries.reserve(X.n_rows);
    for (std::size_t i = 0; i < X.n_rows; ++i)
        if (weights[i] != 0.0) entries.push_back({mix_bits(hashes[i]), weights[i], static_cast<std::int64_t>(i)});

    // Ties between hashes are broken by the contents, so a collision only costs time. Identical rows are sorted by
    // weight: the sum of their weights then has the same rounding for any order of the rows.
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
    const Entry* last = nullptr;
    for (const Entry& entry : entries) {
        if (last != nullptr && entry.hash == last->hash && compare(entry, *last) == 0) {
            result.weights.back() += entry.weight;
        } else {
            result.rows.push_back(entry.row);
            result.weights.push_back(entry.weight);
        }
        result.position[static_cast<std::size_t>(entry.row)] = static_cast<std::int64_t>(result.rows.size()) - 1;
        last = &entry;
    }
    return result;
}

template RowOrder order_rows(const MatrixView<float>&, const MatrixView<double>&, const double*, int);
template RowOrder order_rows(const MatrixView<double>&, const MatrixView<double>&, const double*, int);
template RowOrder order_rows(const SparseView<float>&, const MatrixView<double>&, const double*, int);
template RowOrder order_rows(const SparseView<double>&, const MatrixView<double>&, const double*, int);

}  // namespace cgens
