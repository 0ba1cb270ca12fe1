#include <algorithm>
#include <map>
#include <tuple>

#include "core/cost/calibration.hpp"

namespace onedim {
namespace {

// The times of one collective on one group, rising in bytes.
using Points = std::vector<Measurement>;

std::string group_text(const ClusterGroup& group) {
  return fmt::format("{}x{}", group.nodes, group.ranks_per_node);
}

std::string point_text(const Measurement& point) {
  return fmt::format("{} on {} of {} bytes takes {:.4g} us", collective_name(point.collective),
                     group_text(point.group), point.bytes, point.us);
}

// The time at `bytes`, if that lies within what was measured.
std::optional<double> time_at(const Points* points, int64_t bytes) {
  if (points == nullptr || bytes < points->front().bytes || bytes > points->back().bytes) {
    return std::nullopt;
  }
  const auto high =
      std::lower_bound(points->begin(), points->end(), bytes,
                       [](const Measurement& point, int64_t value) { return point.bytes < value; });
  if (high->bytes == bytes) return high->us;
  const auto low = high - 1;
  const double share =
      static_cast<double>(bytes - low->bytes) / static_cast<double>(high->bytes - low->bytes);
  return low->us + (high->us - low->us) * share;
}

class BreakFinder {
 public:
  explicit BreakFinder(const std::vector<Measurement>& measurements) {
    for (const Measurement& point : measurements) {
      curves_[key(point.collective, point.group)].push_back(point);
    }
  }

  std::vector<PropertyBreak> find() {
    for (const auto& [key, points] : curves_) {
      find_falls(points);
      for (const Measurement& point : points) {
        if (point.collective == Collective::kAllReduce) compare_all_reduce(point);
        if (point.collective == Collective::kAllToAll) compare_all_to_all(point);
        compare_fewer_ranks(point);
      }
    }
    return std::move(breaks_);
  }

 private:
  using Key = std::tuple<Collective, int64_t, int64_t>;
  static Key key(Collective collective, const ClusterGroup& group) {
    return {collective, group.nodes, group.ranks_per_node};
  }
  const Points* points(Collective collective, const ClusterGroup& group) const {
    const auto found = curves_.find(key(collective, group));
    return found == curves_.end() ? nullptr : &found->second;
  }

  void find_falls(const Points& points) {
    for (size_t i = 1; i < points.size(); ++i) {
      if (points[i].us >= points[i - 1].us) continue;
      breaks_.push_back({"monotone",
                         fmt::format("{}, less than {} bytes with {:.4g} us", point_text(points[i]),
                                     points[i - 1].bytes, points[i - 1].us),
                         points[i - 1].us / points[i].us});
    }
  }

  void compare_all_reduce(const Measurement& point) {
    const auto scatter = time_at(points(Collective::kReduceScatter, point.group), point.bytes);
    const auto gather = time_at(points(Collective::kAllGather, point.group), point.bytes);
    if (!scatter || !gather || point.us <= *scatter + *gather) return;
    breaks_.push_back({"all-reduce",
                       fmt::format("{}, more than reduce_scatter and all_gather with {:.4g} us",
                                   point_text(point), *scatter + *gather),
                       point.us / (*scatter + *gather)});
  }

  void compare_all_to_all(const Measurement& point) {
    const auto gather =
        time_at(points(Collective::kAllGather, point.group), point.bytes * point.group.ranks);
    if (!gather || point.us <= *gather) return;
    breaks_.push_back({"all-to-all",
                       fmt::format("{}, more than all_gather of {} bytes with {:.4g} us",
                                   point_text(point), point.bytes * point.group.ranks, *gather),
                       point.us / *gather});
  }

  // Groups that have no more nodes and no more ranks on each.
  void compare_fewer_ranks(const Measurement& point) {
    for (const auto& [key, few] : curves_) {
      const ClusterGroup& group = few.front().group;
      if (few.front().collective != point.collective || group == point.group ||
          group.nodes > point.group.nodes || group.ranks_per_node > point.group.ranks_per_node) {
        continue;
      }
      const std::optional<double> us = time_at(&few, point.bytes);
      if (!us || point.us >= *us) continue;
      breaks_.push_back({"more-ranks",
                         fmt::format("{}, less than on {} with {:.4g} us", point_text(point),
                                     group_text(group), *us),
                         *us / point.us});
    }
  }

  std::map<Key, Points> curves_;
  std::vector<PropertyBreak> breaks_;
};

}  // namespace

std::vector<PropertyBreak> property_breaks(const std::vector<Measurement>& measurements) {
  return BreakFinder(measurements).find();
}

}  // namespace onedim
