# kazoo's Lock. All threads share one session, as its documentation advises.
import logging

import kazoo
from kazoo.client import KazooClient

from protocol import serve


def connect(url, workers, lease):
    logging.disable(logging.CRITICAL)
    server = KazooClient(hosts=url.split("//")[1], timeout=lease)
    server.start()

    def pair_of(name):
        lock = server.Lock("/bench/kazoo/" + name)

        def pair():
            lock.acquire()
            lock.release()

        return pair

    return pair_of


serve(kazoo.__version__, connect)
