// Rows of numbers, gaps and codes of levels as complete numbers, for functions of numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "matrix_view.hpp"

namespace cgens {

// The inputs after the encoding: numbers, then flags, which are 1 for gaps of a column or for levels and else 0.
//
// A gap of number k counts as fill[k]. A number x becomes z = (x - centre) / scale, is bent if `bent` (see `kBend`), and
// becomes (z - last_centre) / last_scale. If there are knots, knot_begin[k] <= e < knot_begin[k + 1], z is instead
// interpolated linearly between ranks[e] at ascending knots[e], and constant beyond them.
//
// Flag n_gaps + h is for the level level_codes[h] of column level_columns[h] or, if that is -1, for the levels
// rare[rare_begin[h]] ... rare[rare_begin[h + 1] - 1]. No level has two flags.
struct EncodingArrays {
    std::size_t n_numbers, n_gaps, n_levels;
    const std::int64_t* numbers;
    const double *fill, *centre, *scale;
    bool bent;
    const double *last_centre, *last_scale;
    const std::int64_t* knot_begin;
    const double *knots, *ranks;
    const std::int64_t *gaps, *level_columns, *level_codes, *rare_begin, *rare;
};

constexpr double kBend = 3.0;        // z becomes z / sqrt(1 + (z / kBend)^2)
constexpr double kLargest = 1e150;  // and what is larger becomes this before, so that its square is finite
constexpr std::size_t kEncodedRows = 64;  // at a time

// Some encoded rows: number k of row i is numbers[k * kEncodedRows + i], and the flags of row i that are 1 are the
// n_flags[i] entries of flags from i * n_sources.
struct EncodedRows {
    std::unique_ptr<double[]> numbers;
    std::unique_ptr<std::uint32_t[]> flags;
    std::size_t n_sources;
    std::uint32_t n_flags[kEncodedRows];
};

class RowEncoder {
   public:
    explicit RowEncoder(const EncodingArrays& arrays);

    // The same with only those inputs that are used.
    RowEncoder select(const std::vector<bool>& is_used) const;

    std::size_t n_numbers() const { return numbers_.size(); }
    std::size_t n_flags() const { return n_flags_; }
    std::size_t n_inputs() const { return n_numbers() + n_flags(); }
    std::size_t n_columns() const { return n_columns_; }  // the minimum number of columns of X

    // Memory for one call of `encode` after the other.
    EncodedRows make_rows() const;
    // Encodes rows first ... first + n - 1 of X, at most kEncodedRows.
    template <class T>
    void encode(const MatrixView<T>& X, std::size_t first, std::size_t n, EncodedRows& out) const;

    // out[i, j] = input j of row i; row-major, X.n_rows x n_inputs.
    template <class T>
    void transform(const MatrixView<T>& X, double* out) const;

   private:
    enum class Scale { kNone, kShifted, kBent, kRanks };
    struct Number {
        std::size_t column;
        double fill, centre, scale, last_centre, last_scale;
        std::size_t first_knot, n_knots;  // a power of two
    };
    // What a flag depends on: a column whose gaps have a flag, or a category.
    struct Source {
        std::size_t column;
        bool is_category;
        std::uint32_t gap_flag;
        std::size_t first_level, n_levels;  // in level_flags_
    };
    static constexpr std::uint32_t kNoFlag = ~std::uint32_t{0};

    void add_knots(const EncodingArrays& arrays, std::size_t k);
    void add_levels(const EncodingArrays& arrays);
    void scale_number(const Number& number, double* values, std::size_t n) const;
    void rank_number(const Number& number, double* values, std::size_t n) const;
    std::uint32_t flag_of(const Source& source, double x) const;

    Scale scale_ = Scale::kNone;
    std::vector<Number> numbers_;
    std::vector<double> knots_, ranks_, slopes_;
    std::vector<Source> sources_;
    std::vector<std::uint32_t> level_flags_;
    std::size_t n_flags_ = 0, n_columns_ = 0;
};

}  // namespace cgens
