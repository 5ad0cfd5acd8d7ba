package attache.kit;

import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.ReentrantLock;

/** Lets one call at a time write the files of a user, of any thread and any process. */
final class Gate {
  private static final Map<Path, Gate> GATES = new HashMap<>();

  private final Path file;
  private final ReentrantLock lock = new ReentrantLock();

  private Gate(Path file) {
    this.file = file;
  }

  static Gate of(Path file) {
    synchronized (GATES) {
      return GATES.computeIfAbsent(file.toAbsolutePath().normalize(), Gate::new);
    }
  }

  /** Runs the body alone; it may call this again. */
  <T> T pass(Callable<T> body) throws Exception {
    lock.lock();
    try {
      if (lock.getHoldCount() > 1) return body.call();
      // Closing the file gives up the lock.
      try (FileChannel channel =
          FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
        channel.lock();
        return body.call();
      }
    } finally {
      lock.unlock();
    }
  }
}
