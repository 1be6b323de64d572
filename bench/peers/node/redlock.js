// node-redlock on ioredis with one connection that pipelines by itself.
const { default: Redis } = require('ioredis');
const { default: Redlock } = require('redlock');
const { version } = require('./node_modules/redlock/package.json');

require('./protocol').serve(version, ({ url, lease }) => {
  const redlock = new Redlock([new Redis(url, { enableAutoPipelining: true })]);
  return (name) => async () => (await redlock.acquire([name], lease)).release();
});
