// redis-semaphore on ioredis with one connection that pipelines by itself.
const { default: Redis } = require('ioredis');
const { Mutex } = require('redis-semaphore');
const { version } = require('./node_modules/redis-semaphore/package.json');

require('./protocol').serve(version, ({ url, lease }) => {
  const redis = new Redis(url, { enableAutoPipelining: true });
  return (name) => {
    const mutex = new Mutex(redis, name, { lockTimeout: lease });
    return async () => {
      await mutex.acquire();
      await mutex.release();
    };
  };
});
