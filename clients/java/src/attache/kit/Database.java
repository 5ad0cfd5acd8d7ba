package attache.kit;

import java.nio.file.Path;
import java.util.List;

/**
 * An open SQLite database: over Android's SQLCipher, or over JDBC.
 *
 * <p>A statement that returns rows, such as a PRAGMA, is always passed to {@code query}.
 */
public interface Database extends AutoCloseable {
  /** Runs a statement that returns no rows. */
  void execute(String sql, String... arguments) throws Exception;

  /** Runs a statement, and returns its rows, with every value as text or null. */
  List<String[]> query(String sql, String... arguments) throws Exception;

  @Override
  default void close() throws Exception {}

  /** The key that a file needs. */
  enum Form {
    /** None. */
    PLAIN,
    /** The pipeline's passphrase ({@code pack.seal}). */
    SEALED,
    /** The device's own key. */
    DEVICE
  }

  /** Opens a store with the key that it needs. */
  interface Opener {
    Database open(Path file, Form form) throws Exception;
  }

  /** Writes an encrypted copy of a store as a new file. */
  interface Encryption {
    void encrypt(Path store, Path copy) throws Exception;
  }
}
