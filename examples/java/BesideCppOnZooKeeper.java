// The other half of examples/07_beside_java.cpp on ZooKeeper, with Curator: nothing here knows of afar.
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryNTimes;

public class BesideCppOnZooKeeper {
  public static void main(String[] args) throws Exception {
    CuratorFramework curator = CuratorFrameworkFactory.newClient(args[0], new RetryNTimes(10, 100));
    curator.start();
    Path account = Path.of(args[1]);
    InterProcessMutex turn = new InterProcessMutex(curator, "/afar/account");

    for (int i = 0; i < 100; i++) {
      turn.acquire();
      try {
        Files.writeString(account, String.valueOf(balance(account) + 1));
      } finally {
        turn.release();
      }
    }
    System.out.println("100 deposits from Java");
    curator.close();
  }

  private static long balance(Path account) throws Exception {
    try {
      return Long.parseLong(Files.readString(account).trim());
    } catch (NoSuchFileException e) {
      return 0;
    }
  }
}
