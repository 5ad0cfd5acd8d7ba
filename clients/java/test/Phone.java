import attache.kit.Attache;
import attache.kit.Decision;
import attache.kit.JdbcDatabase;
import attache.kit.Owner;
import attache.kit.Trust;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** Syncs a phone once: {@code Phone ROOT ORG USER KEY SERVER INBOX}; prints the decision and the reasons. */
final class Phone {
  public static void main(String[] words) throws Exception {
    Path root = Path.of(words[0]);
    Path cache = Files.createDirectories(root.resolve("cache"));
    Attache kit =
        new Attache(root, new Owner(words[1], words[2], "visits"), Trust.keys(words[3]),
            (file, form) -> new JdbcDatabase(file));
    kit.resume();
    FieldApp.Server server =
        new FieldApp.Server() {
          @Override
          public boolean fetch(String name, Path file) throws Exception {
            Path served = Path.of(words[4], name);
            if (!Files.exists(served)) return false;
            Files.copy(served, file, StandardCopyOption.REPLACE_EXISTING);
            return true;
          }

          @Override
          public void upload(Path file) throws Exception {
            Files.copy(file, Path.of(words[5], "android.part"));
            Files.move(Path.of(words[5], "android.part"), Path.of(words[5], "android.zip"));
          }
        };
    Decision decision =
        FieldApp.sync(kit, server, cache, () -> {}, reason -> System.out.println(reason.sentence));
    System.out.println(decision.action.name().toLowerCase(java.util.Locale.ROOT) + " " + kit.generation());
  }
}
