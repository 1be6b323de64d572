# The protocol of the peers (../README.md) for Python: serve(version, connect), where connect(url, workers, lease in
# seconds) gives a function that makes the pair of a name.
import json
import sys
import threading
import time


def work(pair, end, waits):
    now = time.perf_counter()
    while not waits or now < end:
        pair()
        then = now
        now = time.perf_counter()
        waits.append((now - then) * 1e6)


def measure(pair_of, workers, seconds, names):
    parts = [[] for _ in range(workers)]
    start = time.perf_counter()
    threads = [
        threading.Thread(target=work, args=(pair_of(f"orders/{i % names}"), start + seconds, part), daemon=True)
        for i, part in enumerate(parts)
    ]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    took = time.perf_counter() - start
    waits = sorted(w for part in parts for w in part)
    return {"pairs": len(waits), "seconds": took, "p50": waits[len(waits) // 2], "p99": waits[len(waits) * 99 // 100]}


def serve(version, connect):
    pair_of = None
    for line in sys.stdin:
        url, workers, seconds, names, lease = line.split()
        if not pair_of:
            pair_of = connect(url, int(workers), int(lease) / 1000)
        answer = measure(pair_of, int(workers), float(seconds), int(names))
        print(json.dumps({**answer, "version": version}), flush=True)
