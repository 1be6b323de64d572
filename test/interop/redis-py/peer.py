# redis-py's Lock as a peer of the tests, see ../peer.hpp. A lock object is its own owner.
import sys
import threading

import redis

server = redis.Redis(port=int(sys.argv[1]))
locks = {}
output = threading.Lock()


def say(who, text):
    with output:
        print(who, text, flush=True)


def perform(who, verb, _, name, lease="60000"):
    lock = locks.setdefault((who, name), server.lock(name, timeout=int(lease) / 1000, sleep=0.01, thread_local=False))
    if verb == "lock":
        return "ok" if lock.acquire() else "refused"
    if verb == "try":
        return "true" if lock.acquire(blocking=False) else "false"
    if verb == "unlock":
        lock.release()
        return "ok"
    return "error unknown"


def answer(words):
    try:
        say(words[0], perform(*words))
    except Exception as e:
        say(words[0], "error " + type(e).__name__)


say("ready", redis.__version__)
for line in sys.stdin:
    threading.Thread(target=answer, args=(line.split(),), daemon=True).start()
