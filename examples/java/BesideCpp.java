// The other half of examples/07_beside_java.cpp: nothing here knows of afar.
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

public class BesideCpp {
  public static void main(String[] args) throws Exception {
    Config config = new Config();
    config.useSingleServer().setAddress(args[0]);
    RedissonClient redisson = Redisson.create(config);
    Path account = Path.of(args[1]);
    RLock turn = redisson.getLock("account");

    for (int i = 0; i < 100; i++) {
      turn.lock();
      try {
        Files.writeString(account, String.valueOf(balance(account) + 1));
      } finally {
        turn.unlock();
      }
    }
    System.out.println("100 deposits from Java");
    redisson.shutdown();
  }

  private static long balance(Path account) throws Exception {
    try {
      return Long.parseLong(Files.readString(account).trim());
    } catch (NoSuchFileException e) {
      return 0;
    }
  }
}
