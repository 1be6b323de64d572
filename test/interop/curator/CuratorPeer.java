// Curator as a peer of the tests, see ../peer.hpp. Every "who" is a thread of its own, with recipes of
// its own, because Curator's locks belong to threads.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.atomic.AtomicValue;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicInteger;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicLong;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMultiLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.recipes.locks.Revoker;
import org.apache.curator.framework.recipes.shared.SharedCount;
import org.apache.curator.retry.RetryNTimes;

public class CuratorPeer {
  private static final RetryNTimes RETRY = new RetryNTimes(50, 100);

  private final CuratorFramework curator;
  private final Map<String, Object> recipes = new HashMap<>();  // of this thread
  private final List<Lease> leases = new ArrayList<>();
  private final Semaphore asked = new Semaphore(0);  // for a revocable lock

  private CuratorPeer(CuratorFramework curator) {
    this.curator = curator;
  }

  // CuratorPeer <servers> <session ms>
  public static void main(String[] args) throws Exception {
    int session = Integer.parseInt(args[1]);
    CuratorFramework curator = CuratorFrameworkFactory.newClient(args[0], session, session, RETRY);
    curator.start();
    curator.blockUntilConnected();
    say("ready", version());
    Map<String, ExecutorService> threads = new HashMap<>();
    Map<String, CuratorPeer> peers = new HashMap<>();
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    for (String line; (line = in.readLine()) != null;) {
      String[] words = line.split(" ");
      CuratorPeer peer = peers.computeIfAbsent(words[0], who -> new CuratorPeer(curator));
      threads.computeIfAbsent(words[0], who -> Executors.newSingleThreadExecutor())
          .execute(() -> say(words[0], peer.answer(words)));
    }
    Runtime.getRuntime().halt(0);
  }

  private static String version() throws Exception {
    Properties about = new Properties();
    about.load(CuratorFramework.class.getResourceAsStream(
        "/META-INF/maven/org.apache.curator/curator-framework/pom.properties"));
    return about.getProperty("version");
  }

  private static synchronized void say(String who, String text) {
    System.out.println(who + " " + text);
    System.out.flush();
  }

  private String answer(String[] words) {
    try {
      return String.valueOf(perform(words[1], words[2], words[3], words));
    } catch (Exception e) {
      return "error " + e.getClass().getSimpleName();
    }
  }

  @SuppressWarnings("unchecked")
  private <T> T recipe(String kind, String path, Supplier<T> make) {
    return (T) recipes.computeIfAbsent(kind + " " + path, key -> make.get());
  }

  private InterProcessReadWriteLock readWrite(String path) {
    return recipe("rw", path, () -> new InterProcessReadWriteLock(curator, path));
  }

  private InterProcessLock lock(String kind, String path) {
    switch (kind) {
      case "lock": return recipe(kind, path, () -> new InterProcessMutex(curator, path));
      case "revocable": return recipe(kind, path, () -> revocable(path));
      case "single": return recipe(kind, path, () -> new InterProcessSemaphoreMutex(curator, path));
      case "read": return readWrite(path).readLock();
      case "write": return readWrite(path).writeLock();
      case "multi": return recipe(kind, path, () -> new InterProcessMultiLock(curator, Arrays.asList(path.split(","))));
      default: return null;
    }
  }

  private InterProcessLock revocable(String path) {
    InterProcessMutex mutex = new InterProcessMutex(curator, path);
    mutex.makeRevocable(lock -> asked.release());
    return mutex;
  }

  private Object perform(String verb, String kind, String path, String[] words) throws Exception {
    if (verb.equals("revoke")) {
      String holder = new InterProcessMutex(curator, path).getParticipantNodes().iterator().next();
      Revoker.attemptRevoke(curator, holder);
      return "ok";
    }
    if (verb.equals("race")) return race(lock(kind, path), Long.parseLong(words[4]));
    InterProcessLock lock = lock(kind, path);
    if (lock != null) return perform(verb, lock);
    switch (kind) {
      case "permits": return permits(verb, path, Integer.parseInt(words[4]));
      case "long": return longs(verb, new DistributedAtomicLong(curator, path, RETRY), words);
      case "int": return ints(verb, new DistributedAtomicInteger(curator, path, RETRY), words);
      case "count": return count(verb, path, words);
      case "latch": return latch(verb, recipe(kind, path, () -> new LeaderLatch(curator, path, words[0])));
      case "selector": return selector(verb, path);
      case "barrier": return barrier(verb, path, Integer.parseInt(words[4]));
      default: return "error unknown";
    }
  }

  private Object perform(String verb, InterProcessLock lock) throws Exception {
    switch (verb) {
      case "lock": lock.acquire(); return "ok";
      case "try": return lock.acquire(0, TimeUnit.MILLISECONDS);
      case "unlock": lock.release(); return "ok";
      case "asked": asked.acquire(); return "ok";
      default: return "error unknown";
    }
  }

  // Locks and unlocks for so many milliseconds; how often.
  private static Object race(InterProcessLock lock, long time) throws Exception {
    int grants = 0;
    for (long end = System.nanoTime() + time * 1_000_000; System.nanoTime() < end; ++grants) {
      lock.acquire();
      lock.release();
    }
    return grants;
  }

  private Object permits(String verb, String path, int limit) throws Exception {
    InterProcessSemaphoreV2 semaphore =
        recipe("permits", path, () -> new InterProcessSemaphoreV2(curator, path, limit));
    switch (verb) {
      case "lock": leases.add(semaphore.acquire()); return "ok";
      case "try": {
        Lease lease = semaphore.acquire(50, TimeUnit.MILLISECONDS);
        if (lease != null) leases.add(lease);
        return lease != null;
      }
      case "unlock": semaphore.returnLease(leases.remove(0)); return "ok";
      default: return "error unknown";
    }
  }

  private static <T> Object after(AtomicValue<T> value) {
    return value.succeeded() ? value.postValue() : "error raced";
  }

  private Object longs(String verb, DistributedAtomicLong number, String[] words) throws Exception {
    switch (verb) {
      case "add": return after(number.add(Long.parseLong(words[4])));
      case "get": return after(number.get());
      default: return "error unknown";
    }
  }

  private Object ints(String verb, DistributedAtomicInteger number, String[] words) throws Exception {
    switch (verb) {
      case "add": return after(number.add(Integer.parseInt(words[4])));
      case "get": return after(number.get());
      default: return "error unknown";
    }
  }

  private Object count(String verb, String path, String[] words) throws Exception {
    try (SharedCount count = new SharedCount(curator, path, 0)) {
      count.start();
      if (verb.equals("get")) return count.getCount();
      return count.trySetCount(count.getVersionedValue(), Integer.parseInt(words[4]));
    }
  }

  private Object latch(String verb, LeaderLatch latch) throws Exception {
    switch (verb) {
      case "start": latch.start(); return "ok";
      case "await": latch.await(); return "ok";
      case "leads": return latch.hasLeadership();
      case "leader": return latch.getLeader().getId();
      case "close": latch.close(); return "ok";
      default: return "error unknown";
    }
  }

  // Leads from the moment that "await" tells until "close".
  private static class Reign extends LeaderSelectorListenerAdapter {
    final CountDownLatch begun = new CountDownLatch(1);
    final CountDownLatch over = new CountDownLatch(1);
    LeaderSelector selector;

    @Override
    public void takeLeadership(CuratorFramework client) throws Exception {
      begun.countDown();
      over.await();
    }
  }

  private Object selector(String verb, String path) throws Exception {
    Reign reign = recipe("selector", path, () -> {
      Reign made = new Reign();
      made.selector = new LeaderSelector(curator, path, made);
      return made;
    });
    switch (verb) {
      case "start": reign.selector.start(); return "ok";
      case "await": reign.begun.await(); return "ok";
      case "leads": return reign.selector.hasLeadership();
      case "close": reign.over.countDown(); return "ok";
      default: return "error unknown";
    }
  }

  private Object barrier(String verb, String path, int members) throws Exception {
    DistributedDoubleBarrier barrier =
        recipe("barrier", path, () -> new DistributedDoubleBarrier(curator, path, members));
    switch (verb) {
      case "enter": barrier.enter(); return "ok";
      case "leave":
        barrier.leave();
        recipes.remove("barrier " + path);
        return "ok";
      default: return "error unknown";
    }
  }
}
