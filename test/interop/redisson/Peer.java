// Redisson as a peer of the tests, see ../peer.hpp. Every "who" is a thread of its own, because
// Redisson's locks belong to threads.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

public class Peer {
  private final RedissonClient redisson;

  private Peer(RedissonClient redisson) {
    this.redisson = redisson;
  }

  // Peer <port> <watchdog ms>
  public static void main(String[] args) throws Exception {
    Config config = new Config();
    config.useSingleServer().setAddress("redis://127.0.0.1:" + args[0])
        .setConnectionMinimumIdleSize(2).setConnectionPoolSize(16)
        .setSubscriptionConnectionMinimumIdleSize(1);
    config.setLockWatchdogTimeout(Long.parseLong(args[1]));
    Peer peer = new Peer(Redisson.create(config));
    say("ready", Redisson.class.getPackage().getImplementationVersion());
    Map<String, ExecutorService> threads = new HashMap<>();
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    for (String line; (line = in.readLine()) != null;) {
      String[] words = line.split(" ");
      threads.computeIfAbsent(words[0], who -> Executors.newSingleThreadExecutor())
          .execute(() -> say(words[0], peer.answer(words)));
    }
    Runtime.getRuntime().halt(0);
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

  private RLock lock(String kind, String name) {
    switch (kind) {
      case "lock": return redisson.getLock(name);
      case "fair": return redisson.getFairLock(name);
      case "fenced": return redisson.getFencedLock(name);
      case "read": return redisson.getReadWriteLock(name).readLock();
      case "write": return redisson.getReadWriteLock(name).writeLock();
      default: return null;
    }
  }

  private Object perform(String verb, String kind, String name, String[] words) throws Exception {
    RLock lock = lock(kind, name);
    if (lock != null) return perform(verb, lock);
    switch (kind + " " + verb) {
      case "token lock": return redisson.getFencedLock(name).lockAndGetToken();
      case "semaphore set": return redisson.getSemaphore(name).trySetPermits(number(words[4]));
      case "semaphore acquire": redisson.getSemaphore(name).acquire(); return "ok";
      case "semaphore release": redisson.getSemaphore(name).release(); return "ok";
      case "semaphore free": return redisson.getSemaphore(name).availablePermits();
      case "permits set": return redisson.getPermitExpirableSemaphore(name).trySetPermits(number(words[4]));
      case "permits acquire": return redisson.getPermitExpirableSemaphore(name).acquire(number(words[4]), TimeUnit.MILLISECONDS);
      case "permits release": redisson.getPermitExpirableSemaphore(name).release(words[4]); return "ok";
      case "permits free": return redisson.getPermitExpirableSemaphore(name).availablePermits();
      case "latch set": return redisson.getCountDownLatch(name).trySetCount(number(words[4]));
      case "latch down": redisson.getCountDownLatch(name).countDown(); return "ok";
      case "latch await": redisson.getCountDownLatch(name).await(); return "ok";
      case "latch count": return redisson.getCountDownLatch(name).getCount();
      case "long add": return redisson.getAtomicLong(name).addAndGet(Long.parseLong(words[4]));
      case "long get": return redisson.getAtomicLong(name).get();
      default: return "error unknown";
    }
  }

  private Object perform(String verb, RLock lock) {
    switch (verb) {
      case "lock": lock.lock(); return "ok";  // renewed by Redisson's watchdog
      case "try": return lock.tryLock();
      case "unlock": lock.unlock(); return "ok";
      case "count": return lock.getHoldCount();
      default: return "error unknown";
    }
  }

  private static int number(String word) {
    return Integer.parseInt(word);
  }
}
