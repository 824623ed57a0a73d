#include "bin_features.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <utility>

#include "find_edges.hpp"
#include "threads.hpp"

namespace cgens {
namespace {

constexpr std::size_t kBlockFeatures = 32;  // 32 features of 256 bins: 64 KB of histograms
constexpr std::chrono::milliseconds kPollInterval{50};

template <class Code>
void store_codes(const BinnedTable& table, const std::vector<std::uint32_t>& bins, const FeatureBlock& block,
                 std::vector<Code>& codes) {
    codes.resize(block.row_begin.back());
    for (std::size_t i = 0; i < table.n_rows; ++i) {
        Code* out = codes.data() + block.row_begin[i];
        for (std::size_t f = 0; f < block.n_features; ++f) {
            const std::uint32_t bin = bins[f * table.n_rows + i];
            if (bin != table.features[block.first_feature + f].common_bin)
                *out++ = static_cast<Code>(block.bin_offset[f] + bin);
        }
    }
}

// Sets the offsets of a block's bins, given its features.
void set_offsets(const BinnedTable& table, FeatureBlock& block) {
    block.bin_offset.assign(1, 0);
    for (std::size_t f = 0; f < block.n_features; ++f)
        block.bin_offset.push_back(block.bin_offset.back() + table.features[block.first_feature + f].n_bins());
}

[[noreturn]] void throw_infinite() { throw std::invalid_argument("stumps and trees need finite values: X has infinity"); }

template <class T, class Poll>
void bin_block(const MatrixView<T>& X, const std::int64_t* rows, const BinningOptions& options,
               FeatureBinner<T>& binner, BinnedTable& table, FeatureBlock& block, const Poll& poll) {
    const std::size_t n_rows = table.n_rows, n_features = block.n_features;
    std::vector<T> values(n_features * n_rows);
    constexpr std::size_t kAhead = 8;  // prefetched: canonical rows are scattered over X
    T zero_or_nan = 0;                 // NaN once a value is not finite
    for (std::size_t i = 0; i < n_rows; ++i) {
        if (i + kAhead < n_rows) {
            const auto ahead = static_cast<std::size_t>(rows[i + kAhead]);
            __builtin_prefetch(&X(ahead, block.first_feature));
            __builtin_prefetch(&X(ahead, block.first_feature + n_features - 1));
        }
        for (std::size_t f = 0; f < n_features; ++f) {
            const T value = X(static_cast<std::size_t>(rows[i]), block.first_feature + f);
            zero_or_nan += 0 * value;
            values[f * n_rows + i] = value;
        }
    }
    if (zero_or_nan != 0 && std::any_of(values.begin(), values.end(), [](T value) { return std::isinf(value); }))
        throw_infinite();

    std::vector<std::uint32_t> bins(n_features * n_rows);
    block.row_begin.assign(n_rows + 1, 0);
    for (std::size_t f = 0; f < n_features; ++f) {
        std::uint32_t* feature_bins = bins.data() + f * n_rows;
        poll();
        const std::size_t number = block.first_feature + f;
        const bool is_category = options.is_category != nullptr && options.is_category[number] != 0;
        BinnedFeature& feature = table.features[number];
        feature = binner.bin({values.data() + f * n_rows, nullptr, n_rows, 0}, is_category, feature_bins);
        for (std::size_t i = 0; i < n_rows; ++i) block.row_begin[i + 1] += feature_bins[i] != feature.common_bin;
    }
    set_offsets(table, block);
    std::partial_sum(block.row_begin.begin(), block.row_begin.end(), block.row_begin.begin());
    if (block.bin_offset.back() <= 65536) {
        store_codes(table, bins, block, block.codes);
    } else {
        store_codes(table, bins, block, block.wide_codes);
    }
}

// What the blocks of compressed columns need: position[r] is the canonical row that row r of X represents, or -1.
struct SparseRows {
    std::vector<std::int64_t> position;
    SparseRows(const std::int64_t* rows, std::size_t n_rows, std::size_t n_all) : position(n_all, -1) {
        for (std::size_t i = 0; i < n_rows; ++i) {
            std::int64_t& own = position[static_cast<std::size_t>(rows[i])];
            if (own >= 0) throw std::invalid_argument("StumpPool: the rows of a sparse table must be distinct");
            own = static_cast<std::int64_t>(i);
        }
    }
};

template <class T, class Poll>
void bin_block(const SparseView<T>& X, const SparseRows& rows, const BinningOptions&, FeatureBinner<T>& binner,
               BinnedTable& table, FeatureBlock& block, const Poll& poll) {
    struct Stored {
        std::uint32_t row, code;
    };
    const std::size_t n_rows = table.n_rows;
    std::vector<Stored> stored;
    std::vector<std::uint32_t> entry_rows, bins, code_of_row(n_rows);
    std::vector<T> values;
    std::size_t offset = 0;
    for (std::size_t f = 0; f < block.n_features; ++f) {
        poll();
        const std::size_t number = block.first_feature + f;
        values.clear();
        entry_rows.clear();
        for (std::int64_t k = X.begin[number]; k < X.begin[number + 1]; ++k) {
            const std::int64_t row = rows.position[static_cast<std::size_t>(X.indices[k])];
            if (row < 0) continue;
            if (std::isinf(X.data[k])) throw_infinite();
            values.push_back(X.data[k]);
            entry_rows.push_back(static_cast<std::uint32_t>(row));
        }
        bins.resize(values.size());
        const Entries<T> entries{values.data(), entry_rows.data(), values.size(), n_rows - values.size()};
        BinnedFeature& feature = table.features[number];
        feature = binner.bin(entries, false, bins.data());
        const std::uint32_t zero = feature.encode(0.0);
        if (zero == feature.common_bin || entries.n_zeros == 0) {
            for (std::size_t k = 0; k < bins.size(); ++k)
                if (bins[k] != feature.common_bin)
                    stored.push_back({entry_rows[k], static_cast<std::uint32_t>(offset + bins[k])});
        } else {  // mostly another value: rows without an entry are stored
            std::fill(code_of_row.begin(), code_of_row.end(), zero);
            for (std::size_t k = 0; k < bins.size(); ++k) code_of_row[entry_rows[k]] = bins[k];
            for (std::size_t i = 0; i < n_rows; ++i)
                if (code_of_row[i] != feature.common_bin)
                    stored.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(offset + code_of_row[i])});
        }
        offset += feature.n_bins();
    }
    set_offsets(table, block);
    block.row_begin.assign(n_rows + 1, 0);
    for (const Stored& entry : stored) ++block.row_begin[entry.row + 1];
    std::partial_sum(block.row_begin.begin(), block.row_begin.end(), block.row_begin.begin());
    std::vector<std::uint32_t> next(block.row_begin.begin(), block.row_begin.end() - 1);
    const auto store = [&](auto& codes) {  // in the order of the features: codes ascend within a row
        codes.resize(stored.size());
        for (const Stored& entry : stored)
            codes[next[entry.row]++] = static_cast<std::remove_reference_t<decltype(codes[0])>>(entry.code);
    };
    offset <= 65536 ? store(block.codes) : store(block.wide_codes);
}

void append_block(BinnedTable& table, std::size_t first, std::size_t n_features) {
    FeatureBlock block;
    block.first_feature = first;
    block.n_features = n_features;
    table.blocks.push_back(std::move(block));
}

template <class T, class Matrix, class Rows>
BinnedTable bin_blocks(BinnedTable table, const Matrix& X, const Rows& rows, const double* weights, double work,
                       const BinningOptions& options) {
    const std::thread::id caller = std::this_thread::get_id();
    auto asked = std::chrono::steady_clock::now();
    const auto poll = [&] {
        const auto now = std::chrono::steady_clock::now();
        if (!options.interrupted || std::this_thread::get_id() != caller || now - asked <= kPollInterval) return;
        asked = now;
        if (options.interrupted()) throw Interrupted();
    };
    const auto n_used = static_cast<std::size_t>(usable_threads(options.n_threads, work));
    std::vector<FeatureBinner<T>> binners(
        n_used, FeatureBinner<T>(weights, table.n_rows, options.max_bins, options.min_level_weight));
    for_tasks(table.blocks.size(), options.n_threads, work, [&](std::size_t b, std::size_t thread) {
        bin_block(X, rows, options, binners[thread], table, table.blocks[b], poll);
    });
    return table;
}

BinnedTable empty_table(std::size_t n_rows, std::size_t n_features) {
    if (n_rows > std::numeric_limits<std::uint32_t>::max() / kBlockFeatures)
        throw std::length_error("stumps and trees take at most 134217727 rows");
    BinnedTable table;
    table.n_rows = n_rows;
    table.features.resize(n_features);
    return table;
}

}  // namespace

template <class T>
BinnedTable bin_features(const MatrixView<T>& X, const std::int64_t* rows, const double* weights, std::size_t n_rows,
                         const BinningOptions& options) {
    BinnedTable table = empty_table(n_rows, X.n_columns);
    // With few features, blocks are smaller, so that there is work for several threads.
    const std::size_t width = std::min(kBlockFeatures, X.n_columns / 4 + 1);
    for (std::size_t first = 0; first < X.n_columns; first += width)
        append_block(table, first, std::min(width, X.n_columns - first));
    const double work = 10 * static_cast<double>(n_rows * X.n_columns);
    return bin_blocks<T>(std::move(table), X, rows, weights, work, options);
}

template <class T>
BinnedTable bin_features(const SparseView<T>& X, const std::int64_t* rows, const double* weights, std::size_t n_rows,
                         const BinningOptions& options) {
    BinnedTable table = empty_table(n_rows, X.n_columns);
    // A block has codes of 16 bits if possible, and not so many entries that there is no work for several threads.
    const auto n_entries = static_cast<std::size_t>(X.begin[X.n_columns]);
    const std::size_t max_entries = std::max(n_rows, n_entries / 16);
    std::size_t first = 0, n_bins = 0, entries = 0;
    for (std::size_t f = 0; f < X.n_columns; ++f) {
        const auto own = static_cast<std::size_t>(X.begin[f + 1] - X.begin[f]);
        const std::size_t own_bins = std::min(options.max_bins, own + 1) + 1;
        if (f > first && (n_bins + own_bins > 65536 || entries + own > max_entries)) {
            append_block(table, first, f - first);
            first = f;
            n_bins = entries = 0;
        }
        n_bins += own_bins;
        entries += own;
    }
    append_block(table, first, X.n_columns - first);
    const SparseRows positions(rows, n_rows, X.n_rows);
    const double work = 20 * static_cast<double>(n_entries);
    return bin_blocks<T>(std::move(table), X, positions, weights, work, options);
}

template BinnedTable bin_features(const MatrixView<float>&, const std::int64_t*, const double*, std::size_t,
                                  const BinningOptions&);
template BinnedTable bin_features(const MatrixView<double>&, const std::int64_t*, const double*, std::size_t,
                                  const BinningOptions&);
template BinnedTable bin_features(const SparseView<float>&, const std::int64_t*, const double*, std::size_t,
                                  const BinningOptions&);
template BinnedTable bin_features(const SparseView<double>&, const std::int64_t*, const double*, std::size_t,
                                  const BinningOptions&);

}  // namespace cgens
