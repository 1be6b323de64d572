# redis-py's Lock, with the parser in C if it is there.
import redis

from protocol import serve


def connect(url, workers, lease):
    server = redis.Redis.from_url(url, max_connections=workers)

    def pair_of(name):
        lock = server.lock(name, timeout=lease, thread_local=False)

        def pair():
            lock.acquire()
            lock.release()

        return pair

    return pair_of


serve(redis.__version__, connect)
