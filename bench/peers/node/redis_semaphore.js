// redis-semaphore on ioredis with one connection that pipelines by itself, or with as many as the first argument says.
const { default: Redis } = require('ioredis');
const { Mutex } = require('redis-semaphore');
const { version } = require('./node_modules/redis-semaphore/package.json');

require('./protocol').serve(version, ({ url, lease }) => {
  const connections = Array.from({ length: Number(process.argv[2] || 1) }, () => new Redis(url, { enableAutoPipelining: true }));
  let made = 0;
  return (name) => {
    const mutex = new Mutex(connections[made++ % connections.length], name, { lockTimeout: lease });
    return async () => {
      await mutex.acquire();
      await mutex.release();
    };
  };
});
