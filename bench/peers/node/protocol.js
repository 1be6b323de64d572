// The protocol of the peers (../README.md) for node: serve(version, connect), where connect(order) gives a function
// that makes the pair of a name.
const { performance } = require('perf_hooks');

async function work(pair, end) {
  const waits = [];
  let now = performance.now();
  do {
    await pair();
    const then = now;
    now = performance.now();
    waits.push((now - then) * 1e3);
  } while (now < end);
  return waits;
}

async function measure(pairOf, { workers, seconds, names }) {
  const start = performance.now();
  const all = [];
  for (let i = 0; i < workers; i++) all.push(work(pairOf('orders/' + (i % names)), start + seconds * 1e3));
  const parts = await Promise.all(all);
  const took = (performance.now() - start) / 1e3;
  const waits = Float64Array.from(parts.flat()).sort();
  return { pairs: waits.length, seconds: took, p50: waits[waits.length >> 1], p99: waits[Math.floor(waits.length * 0.99)] };
}

exports.serve = async (version, connect) => {
  let pairOf;
  for await (const line of require('readline').createInterface({ input: process.stdin })) {
    const [url, workers, seconds, names, lease] = line.split(' ').map((word, i) => (i ? Number(word) : word));
    pairOf = pairOf || connect({ url, lease });
    console.log(JSON.stringify({ ...(await measure(pairOf, { workers, seconds, names })), version }));
  }
  process.exit(0);
};
