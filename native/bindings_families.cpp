// Families other than stumps: prices of candidates, cosines, trees.
#include <nanobind/stl/optional.h>

#include <optional>

#include "bindings.hpp"
#include "grow_tree.hpp"
#include "price_candidates.hpp"
#include "respond_trees.hpp"
#include "vector_ops.hpp"

namespace cgens {
namespace {

template <class T>
NewArray<double> price(const CMatrix<T>& responses, const CMatrix<double>& duals, int n_threads) {
    const std::size_t n_rows = duals.shape(1);
    require(responses.shape(1) == padded(n_rows), "price_candidates: responses must be padded to whole lanes");
    auto out = zeros<double>(responses.shape(0) * duals.shape(0));
    nb::gil_scoped_release released;
    price_candidates(responses.data(), responses.shape(0), duals.data(), duals.shape(0), n_rows, out.data(), n_threads);
    return out;
}

NewArray<float> cosines(const CMatrix<double>& phases, int n_threads) {
    auto out = zeros<float>(phases.size());
    nb::gil_scoped_release released;
    take_cosines(phases.data(), phases.size(), out.data(), n_threads);
    return out;
}

template <class T>
NewArray<T> field_of(const std::vector<TreeNode>& tree, T TreeNode::*field) {
    auto out = zeros<T>(tree.size());
    std::transform(tree.begin(), tree.end(), out.data(), [=](const TreeNode& node) { return node.*field; });
    return out;
}

auto grow(TreeGrower& self, const Vector<double>& along, const Vector<std::uint8_t>& allowed, std::size_t max_leaves,
          double min_weight, bool real, const std::optional<Vector<std::uint8_t>>& drawn,
          std::optional<std::uint64_t> seed) {
    require(along.shape(0) == self.n_rows(), "grow: one value per row");
    require(allowed.shape(0) == self.n_features(), "grow: one flag per feature");
    require_finite(along, "grow: values must be finite");
    require(max_leaves >= 1, "grow: at least one leaf");
    require(min_weight >= 0 && std::isfinite(min_weight), "grow: min_weight must be finite and >= 0");
    require(!drawn || (drawn->shape(0) == self.n_rows() &&
                       std::any_of(drawn->data(), drawn->data() + self.n_rows(), [](auto own) { return own != 0; })),
            "grow: one flag per row, and one row that is drawn");
    auto leaf_of = zeros<std::int32_t>(self.n_rows());
    const TreeOptions options{max_leaves, min_weight, real, seed.has_value(), seed.value_or(0)};
    const std::uint8_t* rows = drawn ? drawn->data() : nullptr;
    const std::vector<TreeNode> tree =
        without_gil([&] { return self.grow(along.data(), allowed.data(), rows, options, leaf_of.data()); });
    std::vector<std::int64_t> level_begin{0};
    std::vector<std::uint32_t> levels;
    for (const TreeNode& node : tree) {
        levels.insert(levels.end(), node.levels.begin(), node.levels.end());
        level_begin.push_back(static_cast<std::int64_t>(levels.size()));
    }
    return std::make_tuple(field_of(tree, &TreeNode::feature), field_of(tree, &TreeNode::left),
                           field_of(tree, &TreeNode::right), field_of(tree, &TreeNode::threshold),
                           field_of(tree, &TreeNode::sum), field_of(tree, &TreeNode::weight),
                           field_of(tree, &TreeNode::gaps_right), to_array(level_begin), to_array(levels), leaf_of);
}

// Every child is in the same tree, after its parent, and has one parent: a walk ends and stays within the arrays.
void require_trees(const Vector<std::int64_t>& begin, const Vector<std::int32_t>& features,
                   const Vector<std::int32_t>& left, const Vector<std::int32_t>& right) {
    require(begin.shape(0) >= 1 && begin(0) == 0, "TreeTables: begin must start with 0");
    for (std::size_t j = 0; j + 1 < begin.shape(0); ++j) require(begin(j + 1) > begin(j), "TreeTables: an empty tree");
    require(static_cast<std::size_t>(begin(begin.shape(0) - 1)) == features.shape(0),
            "TreeTables: begin must end with the number of nodes");
    for (std::size_t j = 0; j + 1 < begin.shape(0); ++j) {
        const std::int64_t size = begin(j + 1) - begin(j);
        std::vector<bool> has_parent(static_cast<std::size_t>(size), false);
        for (std::int64_t k = 0; k < size; ++k) {
            const auto at = static_cast<std::size_t>(begin(j) + k);
            if (features(at) < 0) continue;
            require(features(at) < TreeTables::kMaxFeatures, "TreeTables: too many features");
            for (const std::int64_t child : {left(at), right(at)}) {
                require(child > k && child < size && !has_parent[static_cast<std::size_t>(child)],
                        "TreeTables: a child must come after its only parent, in the same tree");
                has_parent[static_cast<std::size_t>(child)] = true;
            }
        }
    }
}

void construct_trees(TreeTables* self, const Vector<std::int64_t>& begin, const Vector<std::int32_t>& features,
                     const Vector<std::int32_t>& left, const Vector<std::int32_t>& right,
                     const Vector<double>& thresholds, const Vector<float>& values,
                     const Vector<std::uint8_t>& gaps_right, const Vector<std::int64_t>& level_begin,
                     const Vector<std::uint32_t>& levels) {
    const std::size_t n = features.shape(0);
    require(left.shape(0) == n && right.shape(0) == n && thresholds.shape(0) == n && values.shape(0) == n &&
                gaps_right.shape(0) == n,
            "TreeTables: lengths differ");
    require(n < (std::size_t{1} << 31), "TreeTables: too many nodes");
    require_trees(begin, features, left, right);
    require_levels(level_begin, levels, n);
    nb::gil_scoped_release released;
    new (self) TreeTables({begin.data(), begin.shape(0) - 1, features.data(), left.data(), right.data(),
                           thresholds.data(), values.data(), gaps_right.data(), level_begin.data(), levels.data()});
}

template <class T>
NewArray<float> respond(const TreeTables& self, const Matrix<T>& X, int n_threads) {
    require(X.shape(1) >= self.n_inputs(), "TreeTables: X has too few columns");
    auto out = zeros<float>(X.shape(0) * self.n_trees());
    nb::gil_scoped_release released;
    self.respond(view<T>(X), out.data(), n_threads);
    return out;
}

template <class T>
NewArray<double> decide(const TreeTables& self, const Matrix<T>& X, const CMatrix<double>& weights, int n_threads) {
    require(X.shape(1) >= self.n_inputs(), "TreeTables: X has too few columns");
    require(weights.shape(0) == self.n_trees(), "TreeTables: one row of weights per tree");
    auto out = zeros<double>(X.shape(0) * weights.shape(1));
    nb::gil_scoped_release released;
    self.add_decision(view<T>(X), weights.data(), weights.shape(1), out.data(), n_threads);
    return out;
}

}  // namespace

void bind_families(nb::module_& m) {
    m.def("price_candidates", &price<float>, "responses"_array, "duals"_array, "n_threads"_a,
          "Return responses duals', of shape (n_candidates, n_outputs), flat; both have one column per training row.");
    m.def("price_candidates", &price<std::int8_t>, "responses"_array, "duals"_array, "n_threads"_a);
    m.def("padded_length", &padded, "n"_a, "Return `n` rounded up to whole lanes: the length of a row of responses.");
    m.def("take_cosines", &cosines, "phases"_array, "n_threads"_a, "Return sqrt(2) cos(phases), flat.");

    nb::class_<TreeGrower>(m, "TreeGrower", "Grows small trees on a vector of duals over the bins of a pool.")
        .def(
            "__init__",
            [](TreeGrower* self, std::shared_ptr<StumpPool> pool, const Vector<double>& weights, int n_threads,
               std::size_t max_stored) {
                require_positive(weights, pool->n_rows(), "TreeGrower: one finite weight > 0 per row");
                nb::gil_scoped_release released;
                new (self) TreeGrower(std::move(pool), to_vector(weights), n_threads, max_stored);
            },
            "pool"_a, "weights"_array, "n_threads"_a, "max_stored"_a = TreeGrower::kMaxStored,
            "Stores histograms of at most `max_stored` bytes.")
        .def("grow", &grow, "along"_array, "allowed"_array, "max_leaves"_a, "min_weight"_a, "real"_a,
             nb::arg("drawn").none().noconvert() = nb::none(), nb::arg("seed").none() = nb::none(),
             "Return features, left, right, thresholds, sums, weights, gaps_right, level_begin, levels; leaf of each row.");

    nb::class_<TreeTables>(m, "TreeTables", "Trees laid out for prediction.")
        .def("__init__", &construct_trees, "begin"_array, "features"_array, "left"_array, "right"_array,
             "thresholds"_array, "values"_array, "gaps_right"_array, "level_begin"_array, "levels"_array)
        .def("respond", &respond<float>, "X"_array, "n_threads"_a,
             "Return the responses on new rows, of shape (n_rows, n_trees), flat.")
        .def("respond", &respond<double>, "X"_array, "n_threads"_a)
        .def("decide", &decide<float>, "X"_array, "weights"_array, "n_threads"_a,
             "Return sum_j w_j h_j(x), of shape (n_rows, n_outputs), flat.")
        .def("decide", &decide<double>, "X"_array, "weights"_array, "n_threads"_a);
}

}  // namespace cgens
