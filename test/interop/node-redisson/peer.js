// node-redisson as a peer of the tests, see ../peer.hpp. Only plain locks.
const { Redisson } = require('node-redisson');
const { version } = require('node-redisson/package.json');

const redisson = new Redisson({ redis: { options: { host: '127.0.0.1', port: Number(process.argv[2]) } } });
const locks = new Map(); // of every "who", because a lock object is its owner

async function perform([who, verb, , name]) {
  const key = who + ' ' + name;
  if (!locks.has(key)) locks.set(key, redisson.getLock(name));
  const lock = locks.get(key);
  if (verb === 'lock') await lock.lock();
  else if (verb === 'unlock') await lock.unlock();
  else if (verb === 'try') return lock.tryLock(1, true); // 1 ms: false would mean for ever
  else throw new Error('unknown');
  return 'ok';
}

console.log('ready ' + version);
require('readline').createInterface({ input: process.stdin })
  .on('line', (line) => {
    const words = line.split(' ');
    perform(words).then((answer) => console.log(words[0] + ' ' + answer), (e) => console.log(words[0] + ' error ' + e.message));
  })
  .on('close', () => process.exit(0));
