// Redisson's RLock with the lease told, so that no watchdog is started and stopped for each.
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

public class RedissonPeer {
  public static void main(String[] args) throws Exception {
    Protocol.serve(Redisson.class.getPackage().getImplementationVersion(), RedissonPeer::connect);
  }

  private static Protocol.Client connect(String url, int workers, int leaseMs) {
    Config config = new Config();
    config.useSingleServer().setAddress(url)
        .setConnectionMinimumIdleSize(workers).setConnectionPoolSize(workers)
        .setSubscriptionConnectionMinimumIdleSize(1);
    RedissonClient redisson = Redisson.create(config);
    return name -> {
      RLock lock = redisson.getLock(name);
      return () -> {
        lock.lock(leaseMs, TimeUnit.MILLISECONDS);
        lock.unlock();
      };
    };
  }
}
