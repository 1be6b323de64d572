// The protocol of the peers, see ../README.md.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

public class Protocol {
  public interface Pair {
    void run() throws Exception;
  }

  public interface Client {
    Pair pairOf(String name);
  }

  public interface Connector {
    Client connect(String url, int workers, int leaseMs) throws Exception;
  }

  public static void serve(String version, Connector connector) throws Exception {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    Client client = null;
    ExecutorService threads = Executors.newCachedThreadPool();
    for (String line; (line = in.readLine()) != null;) {
      String[] words = line.split(" ");
      int workers = Integer.parseInt(words[1]);
      if (client == null) client = connector.connect(words[0], workers, Integer.parseInt(words[4]));
      List<Pair> pairs = new ArrayList<>();
      for (int i = 0; i < workers; i++) pairs.add(client.pairOf("orders/" + i % Integer.parseInt(words[3])));
      System.out.println(measure(threads, pairs, Double.parseDouble(words[2]), version));
      System.out.flush();
    }
    Runtime.getRuntime().halt(0);
  }

  private static String measure(ExecutorService threads, List<Pair> pairs, double seconds, String version)
      throws Exception {
    long start = System.nanoTime();
    long end = start + (long) (seconds * 1e9);
    List<Callable<double[]>> work = new ArrayList<>();
    for (Pair pair : pairs) work.add(() -> waits(pair, end));
    List<double[]> parts = new ArrayList<>();
    for (Future<double[]> done : threads.invokeAll(work)) parts.add(done.get());
    double took = (System.nanoTime() - start) / 1e9;
    double[] all = parts.stream().flatMapToDouble(Arrays::stream).sorted().toArray();
    return String.format(java.util.Locale.ROOT,
        "{\"pairs\": %d, \"seconds\": %.6f, \"p50\": %.3f, \"p99\": %.3f, \"version\": \"%s\"}", all.length, took,
        all[all.length / 2], all[(int) (all.length * 0.99)], version);
  }

  private static double[] waits(Pair pair, long end) throws Exception {
    double[] waits = new double[1024];
    int count = 0;
    long now = System.nanoTime();
    do {
      pair.run();
      long then = now;
      now = System.nanoTime();
      if (count == waits.length) waits = Arrays.copyOf(waits, 2 * count);
      waits[count++] = (now - then) / 1e3;
    } while (now < end);
    return Arrays.copyOf(waits, count);
  }
}
