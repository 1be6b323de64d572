# kazoo as a peer of the tests, see ../peer.hpp. peer.py <servers> <session ms>
import sys
import threading

import kazoo
from kazoo.client import KazooClient
from kazoo.recipe.counter import Counter
from kazoo.recipe.lock import Lock


class CuratorLock(Lock):
    _NODE_NAME = "-lock-"
    _EXCLUDE_NAMES = ["lock-"]


server = KazooClient(hosts=sys.argv[1], timeout=int(sys.argv[2]) / 1000)
server.start()
recipes = {}
output = threading.Lock()


def say(who, text):
    with output:
        print(who, text, flush=True)


def perform(who, verb, kind, path, number="0"):
    def recipe(make):
        return recipes.setdefault((who, kind, path), make())

    if kind in ("lock", "plain"):
        lock = recipe(lambda: (CuratorLock if kind == "lock" else Lock)(server, path))
        if verb == "lock":
            return "ok" if lock.acquire() else "refused"
        if verb == "try":
            return "true" if lock.acquire(blocking=False) else "false"
        if verb == "unlock":
            lock.release()
            return "ok"
    if kind == "count":
        count = Counter(server, path, support_curator=True)
        if verb == "add":
            count += int(number)
        return count.value
    return "error unknown"


def answer(words):
    try:
        say(words[0], perform(*words))
    except Exception as e:
        say(words[0], "error " + type(e).__name__)


say("ready", kazoo.__version__)
for line in sys.stdin:
    threading.Thread(target=answer, args=(line.split(),), daemon=True).start()
