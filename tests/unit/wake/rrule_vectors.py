"""Random recurrence rules and their occurrences by dateutil: RULE, start and occurrences, by tabs.

Left out is what dateutil reads differently than RFC 5545 says: BYWEEKNO without BYDAY (it takes
all seven days instead of the start's), BYDAY with both 1MO and TU (it takes neither), BYSETPOS of
WEEKLY (its first week begins with the start), and weeks 52, 53 and -53 (it counts the weeks of the year
before wrongly: 2022-01-02 was in week 52).
"""
import random
import signal
import sys
from datetime import datetime

try:
    from dateutil.rrule import rrulestr
except ImportError:
    sys.exit(77)

DAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]


def pick(values, most):
    return ",".join(str(v) for v in random.sample(list(values), random.randint(1, most)))


class TooLong(Exception):
    pass


def too_long(_signal, _frame):
    raise TooLong


def first(source, start):
    found = []
    for at in source:
        if at.year > start.year + 90:
            break
        found.append(at.strftime("%Y-%m-%dT%H:%M:%S"))
        if len(found) == 15:
            break
    return found


def rule():
    freq = random.choice(["MINUTELY", "HOURLY", "DAILY", "WEEKLY", "MONTHLY", "YEARLY"])
    long = freq in ("MONTHLY", "YEARLY")
    p = {"FREQ": freq}
    if random.random() < 0.4:
        p["INTERVAL"] = random.choice([1, 2, 3, 4, 5, 7, 11, 90, 1441] if freq in ("MINUTELY", "HOURLY") else
                                      [1, 2, 3, 4, 5, 7, 13])
    if random.random() < 0.3:
        p["BYMONTH"] = pick(range(1, 13), 4)
    if freq == "YEARLY" and random.random() < 0.25:
        p["BYWEEKNO"] = pick([1, 2, 10, 20, 40, -1, -2, -40], 3)
    if freq in ("YEARLY", "HOURLY", "MINUTELY") and random.random() < 0.15:
        p["BYYEARDAY"] = pick([1, 2, 59, 60, 61, 100, 365, 366, -1, -2, -306, -307, -366], 4)
    if freq != "WEEKLY" and random.random() < 0.25:
        p["BYMONTHDAY"] = pick([1, 2, 13, 15, 28, 29, 30, 31, -1, -2, -29, -31], 4)
    if random.random() < 0.4 or "BYWEEKNO" in p:
        days = DAYS
        if long and "BYWEEKNO" not in p and random.random() < 0.6:
            days = [random.choice(["1", "2", "+3", "-1", "-2", "4", "5", "-5"]) + d for d in DAYS]
            if freq == "YEARLY" and "BYMONTH" not in p:
                days = [random.choice(["1", "20", "53", "-1", "-53"]) + d for d in DAYS]
        p["BYDAY"] = pick(days, 4)
    if random.random() < 0.35:
        p["BYHOUR"] = pick(range(24), 4)
    if random.random() < 0.35:
        p["BYMINUTE"] = pick(range(60), 4)
    if random.random() < 0.1:
        p["BYSECOND"] = random.randint(0, 59)
    if freq != "WEEKLY" and any(k.startswith("BY") for k in p) and random.random() < 0.25:
        p["BYSETPOS"] = pick([1, 2, 3, 5, -1, -2, -4], 3) if freq != "MINUTELY" else "1"
    if random.random() < 0.2:
        p["WKST"] = random.choice(DAYS)
    if random.random() < 0.2:
        p["COUNT"] = random.choice([1, 2, 5, 9])
    elif random.random() < 0.1:
        p["UNTIL"] = "20%02d%02d%02dT120000" % (random.randint(31, 60), random.randint(1, 12), random.randint(1, 28))
    head = [("FREQ", p.pop("FREQ"))]
    rest = list(p.items())
    random.shuffle(rest)
    return ";".join("%s=%s" % kv for kv in head + rest)


def main():
    signal.signal(signal.SIGVTALRM, too_long)
    random.seed(int(sys.argv[1]))
    for _ in range(int(sys.argv[2])):
        text = rule()
        start = datetime(random.randint(1996, 2030), random.randint(1, 12), random.randint(1, 28),
                         random.randint(0, 23), random.randint(0, 59), random.choice([0, 0, 30]))
        # Where nothing fits for long, dateutil may look at each minute of eight thousand years.
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.1)
        try:
            found = first(rrulestr(text, dtstart=start), start)
        except (TooLong, ValueError):
            continue
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        print("\t".join([text, start.strftime("%Y-%m-%dT%H:%M:%S"), " ".join(found)]))


main()
