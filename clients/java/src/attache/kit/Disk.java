package attache.kit;

import java.io.FileOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Comparator;
import java.util.stream.Stream;

/** Files that are whole after an interruption. */
final class Disk {
  private Disk() {}

  /** A new file, which is on the disk when it is closed. */
  static OutputStream create(Path file) throws IOException {
    FileOutputStream stream = new FileOutputStream(file.toFile());
    return new FilterOutputStream(stream) {
      @Override
      public void write(byte[] bytes, int start, int count) throws IOException {
        stream.write(bytes, start, count);
      }

      @Override
      public void close() throws IOException {
        try (FileOutputStream closing = stream) {
          closing.getFD().sync();
        }
      }
    };
  }

  static void write(Path file, String text) throws IOException {
    Path part = file.resolveSibling(file.getFileName() + ".part");
    try (OutputStream stream = create(part)) {
      stream.write(text.getBytes(StandardCharsets.UTF_8));
    }
    rename(part, file);
  }

  /** The content of a file; null if there is none. */
  static String read(Path file) throws IOException {
    return Files.exists(file) ? new String(Files.readAllBytes(file), StandardCharsets.UTF_8) : null;
  }

  static void rename(Path file, Path target) throws IOException {
    Files.move(file, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  /** Removes a file or a directory, if it exists. */
  static void remove(Path place) throws IOException {
    if (!Files.exists(place)) return;
    try (Stream<Path> all = Files.walk(place)) {
      for (Path one : (Iterable<Path>) all.sorted(Comparator.reverseOrder())::iterator) Files.delete(one);
    }
  }

  /** The form of a file: plain by its header, or the other one. */
  static Database.Form form(Path file, Database.Form other) throws IOException {
    byte[] header = "SQLite format 3\0".getBytes(StandardCharsets.US_ASCII);
    try (java.io.InputStream stream = Files.newInputStream(file)) {
      return java.util.Arrays.equals(stream.readNBytes(header.length), header) ? Database.Form.PLAIN : other;
    }
  }
}
