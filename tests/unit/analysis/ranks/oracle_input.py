"""What the oracle reads of the exports of several ranks: their collectives in order, and which of them are the same.

Only sqlite3 and the names of kernels: nothing of nl-stage.
"""
import os
import re
import sqlite3
import statistics

# ncclDevKernel_AllReduce_Sum_bf16_RING_LL(…), ncclKernel_AllReduce_RING_LL_Sum_float(…)
KERNEL = re.compile(r"nccl(?:Dev)?Kernel_([A-Za-z]+)")
MOST_LAG = 512  # a capture that was opened late lacks so many collectives at most


def scalar(db, statement):
    try:
        row = db.execute(statement).fetchone()
    except sqlite3.OperationalError:  # no such table
        return None
    return row[0] if row else None


def read_rank(path):
    """{"file", "utc_ns" or None, "collectives": {kind: [(start, end), …] by end}}"""
    db = sqlite3.connect(f"file:{os.path.abspath(path)}?mode=ro", uri=True)
    collectives = {}
    for start, end, name in db.execute("SELECT start, end, value FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON StringIds.id = demangledName "
                                       "WHERE value LIKE '%nccl%' ORDER BY end"):
        found = KERNEL.search(name)
        if found:
            collectives.setdefault(found.group(1), []).append((start, end))
    utc_ns = scalar(db, "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME")
    db.close()
    return {"file": os.path.basename(path), "utc_ns": utc_ns, "collectives": collectives}


def spread_of(first, second, lag):
    """How far the differences of ends lie from their median, on average, when element k of first is element k + lag of second."""
    differences = [second[k + lag][1] - first[k][1] for k in range(max(0, -lag), min(len(first), len(second) - lag))]
    middle = statistics.median(differences)
    return statistics.fmean(abs(difference - middle) for difference in differences)


def lag_of(first, second):
    """By trying all: the one at which the ends differ by the most constant amount. At least half of the shorter list must remain."""
    shorter = min(len(first), len(second))
    if shorter == 0:
        return None
    lags = [lag for lag in range(-MOST_LAG, MOST_LAG + 1)
            if min(len(first), len(second) - lag) - max(0, -lag) >= max(2, (shorter + 1) // 2)]
    # The nearest to 0 of those that are equally good.
    return min(lags, key=lambda lag: (spread_of(first, second, lag), abs(lag))) if lags else None


def same_collectives(ranks, kind, members):
    """[{rank: (start, end)}] of the collectives of one kind that all members have."""
    lists = {number: ranks[number]["collectives"].get(kind, []) for number in members}
    first = members[0]
    lags = {number: lag_of(lists[first], lists[number]) for number in members}
    if any(lag is None for lag in lags.values()):
        return []
    return [{number: lists[number][k + lags[number]] for number in members} for k in range(len(lists[first]))
            if all(0 <= k + lags[number] < len(lists[number]) for number in members)]


def groups_from(texts, ranks):
    """["AllReduce=0,1", "AllGather=all"] → [("AllReduce", [0, 1]), …]; without any, each kind is of all ranks."""
    everyone = list(range(len(ranks)))
    if not texts:
        return [(kind, everyone) for kind in sorted(set.intersection(*(set(rank["collectives"]) for rank in ranks)))]
    groups = []
    for text in texts:
        kind, _, members = text.partition("=")
        groups.append((kind, everyone if members == "all" else [int(member) for member in members.split(",")]))
    return groups
