#!/usr/bin/env python3
"""A second opinion on the clocks of several ranks, and on who is late.

    clock_oracle.py rank0.sqlite rank1.sqlite … [--group AllReduce=0,1] [--group AllGather=all] [--no-table]

Prints JSON. The clock of rank i against that of rank 0 is the line
    end on i = end on 0 + offset_ns + drift_ppm / 1e6 · (end on 0 − reference_ns)
with the least sum of absolute residuals over the collectives of both: that sum is convex in the drift, so a search by the golden section
finds its minimum, and for each drift the best offset is a median. The slopes of all pairs (Theil and Sen) are a third opinion. nl-stage fits
otherwise, by a regression that is repeated without outliers.
"""
import argparse
import json
import math
import statistics

import oracle_input

GOLDEN = (math.sqrt(5) - 1) / 2
MOST_DRIFT = 1e-3  # no clock is worse
MOST_PAIRS = 400   # for the slopes of all pairs


def cost_of(times, values, slope):
    rests = [value - slope * time for time, value in zip(times, values)]
    middle = statistics.median(rests)
    return sum(abs(rest - middle) for rest in rests), middle


def least_absolute_line(times, values):
    """(slope, value at time 0) with the least sum of absolute residuals."""
    low, high = -MOST_DRIFT, MOST_DRIFT
    left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    cost_left, cost_right = cost_of(times, values, left)[0], cost_of(times, values, right)[0]
    for _ in range(120):
        if cost_left <= cost_right:
            high, right, cost_right = right, left, cost_left
            left = high - GOLDEN * (high - low)
            cost_left = cost_of(times, values, left)[0]
        else:
            low, left, cost_left = left, right, cost_right
            right = low + GOLDEN * (high - low)
            cost_right = cost_of(times, values, right)[0]
    slope = (low + high) / 2
    return slope, cost_of(times, values, slope)[1]


def theil_sen_slope(times, values):
    step = max(1, math.ceil(len(times) / MOST_PAIRS))
    points = list(zip(times, values))[::step]
    slopes = [(y1 - y0) / (x1 - x0) for i, (x0, y0) in enumerate(points) for x1, y1 in points[i + 1:] if x1 != x0]
    return statistics.median(slopes) if slopes else 0.0


def fit(ends, base):
    """The clock of `ends` against `base`: two lists of the ends of the same collectives, in nanoseconds of either clock."""
    if len(ends) < 3:
        return None
    reference = (min(base) + max(base)) // 2
    constant = ends[0] - base[0]  # whole numbers are exact; what is left is small
    times = [float(x - reference) for x in base]
    values = [float(y - x - constant) for x, y in zip(base, ends)]
    slope, middle = least_absolute_line(times, values)
    rests = [value - middle - slope * time for time, value in zip(times, values)]
    sigma = math.sqrt(sum(rest * rest for rest in rests) / (len(rests) - 2))
    centre = statistics.fmean(times)
    weight = math.sqrt(sum((time - centre) ** 2 for time in times))
    return {"pairs": len(ends), "reference_ns": reference, "offset_ns": constant + middle, "drift_ppm": slope * 1e6,
            "drift_theil_sen_ppm": theil_sen_slope(times, values) * 1e6, "drift_error_ppm": sigma / weight * 1e6,
            "sigma_ns": sigma, "sigma_of_median_ns": 1.4826 * statistics.median(abs(rest) for rest in rests),
            "max_ns": max(abs(rest) for rest in rests)}


def on_first_clock(clock, time):
    """The time of rank 0 at which the other rank's clock says `time`."""
    if clock is None:
        return float(time)
    slope = clock["drift_ppm"] * 1e-6
    return clock["reference_ns"] + (time - clock["offset_ns"] - clock["reference_ns"]) / (1 + slope)


def clocks_of(ranks, groups):
    """Per rank its clock against rank 0's; None for rank 0 itself, and "unjoined" where no collective has both."""
    clocks = [None]
    for number in range(1, len(ranks)):
        shared = [pair for kind, members in groups if 0 in members and number in members
                  for pair in oracle_input.same_collectives(ranks, kind, members)]
        clock = fit([pair[number][1] for pair in shared], [pair[0][1] for pair in shared])
        if clock and ranks[0]["utc_ns"] is not None and ranks[number]["utc_ns"] is not None:
            clock["wall_offset_ns"] = clock["offset_ns"] + (ranks[number]["utc_ns"] - ranks[0]["utc_ns"])
        clocks.append(clock or "unjoined")
    return clocks


def arrivals_of(ranks, groups, clocks):
    """Per collective who began last on rank 0's clock, and by how much after the second last and after the median."""
    table = []
    for kind, members in groups:
        if any(clocks[number] == "unjoined" for number in members):
            continue
        for index, pair in enumerate(oracle_input.same_collectives(ranks, kind, members)):
            starts = {number: on_first_clock(clocks[number], pair[number][0]) for number in members}
            ends = {number: on_first_clock(clocks[number], pair[number][1]) for number in members}
            order = sorted(members, key=lambda number: starts[number])
            table.append({"kind": kind, "group": members, "index": index, "end_ns": round(max(ends.values())), "last": order[-1],
                          "after_second_last_ns": round(starts[order[-1]] - starts[order[-2]]),
                          "after_median_ns": round(starts[order[-1]] - statistics.median(starts.values())),
                          "after_first_ns": round(starts[order[-1]] - starts[order[0]]),
                          "ends_apart_ns": round(max(ends.values()) - min(ends.values()))})
    return sorted(table, key=lambda row: (row["end_ns"], row["kind"], row["group"]))


def sums_of(table, count):
    """Per rank: in how many collectives it came last, and how long the second last and the median waited for it, all together."""
    sums = [{"rank": number, "last": 0, "collectives": 0, "after_second_last_ns": 0, "after_median_ns": 0} for number in range(count)]
    for row in table:
        for number in row["group"]:
            sums[number]["collectives"] += 1
        late = sums[row["last"]]
        late["last"] += 1
        late["after_second_last_ns"] += row["after_second_last_ns"]
        late["after_median_ns"] += row["after_median_ns"]
    return sums


def rounded(value):
    """Times to a tenth of a nanosecond, drifts to a millionth of a ppm."""
    if isinstance(value, dict):
        return {key: round(each, 6) if key.endswith("_ppm") else rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return round(value, 1) if isinstance(value, float) else value


def judge(paths, group_texts=()):
    ranks = [oracle_input.read_rank(path) for path in paths]
    groups = oracle_input.groups_from(list(group_texts), ranks)
    clocks = clocks_of(ranks, groups)
    table = arrivals_of(ranks, groups, clocks)
    said = [{"rank": number, "file": ranks[number]["file"], "clock": clock} for number, clock in enumerate(clocks)]
    return rounded({"ranks": said, "groups": [{"kind": kind, "members": members} for kind, members in groups],
                    "sums": sums_of(table, len(ranks)), "collectives": table})


def as_text(answer):
    """JSON with one line for each row."""
    parts = []
    for key, rows in answer.items():
        parts.append(f' "{key}": [\n' + ",\n".join("  " + json.dumps(row) for row in rows) + "\n ]")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("exports", nargs="+", help="in the order of the ranks")
    parser.add_argument("--group", action="append", default=[], metavar="KIND=RANKS", help="by default each kind is of all ranks")
    parser.add_argument("--no-table", action="store_true", help="without the row for each collective")
    options = parser.parse_args()
    answer = judge(options.exports, options.group)
    if options.no_table:
        del answer["collectives"]
    print(as_text(answer), end="")


if __name__ == "__main__":
    main()
