// Curator's InterProcessMutex. All threads share one session, as its documentation advises.
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryNTimes;

public class CuratorMutex {
  public static void main(String[] args) throws Exception {
    Properties about = new Properties();
    about.load(CuratorFramework.class.getResourceAsStream(
        "/META-INF/maven/org.apache.curator/curator-framework/pom.properties"));
    Protocol.serve(about.getProperty("version"), CuratorMutex::connect);
  }

  private static Protocol.Client connect(String url, int workers, int leaseMs) throws Exception {
    CuratorFramework curator = CuratorFrameworkFactory.newClient(
        url.substring(url.indexOf("//") + 2), leaseMs, leaseMs, new RetryNTimes(50, 100));
    curator.start();
    curator.blockUntilConnected();
    // One object for all threads of a name: it is made for that, and keeps them apart itself.
    Map<String, InterProcessMutex> mutexes = new ConcurrentHashMap<>();
    return name -> {
      InterProcessMutex mutex = mutexes.computeIfAbsent(name, n -> new InterProcessMutex(curator, "/bench/curator/" + n));
      return () -> {
        mutex.acquire();
        mutex.release();
      };
    };
  }
}
