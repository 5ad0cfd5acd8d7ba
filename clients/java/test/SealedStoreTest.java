package attache.kit;

import static attache.kit.KitTest.NOW;
import static attache.kit.KitTest.expect;
import static attache.kit.KitTest.test;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.ZipFile;

/** Bundles of sealed stores, and stores under the device's own key, over SQLCipher. */
final class SealedStoreTest {
  private static final String PASSPHRASE = "bm90IGEgc2VjcmV0LCBvbmx5IGEgdGVzdCdzIHdvcmQ=";
  private static final String DEVICE_KEY = "the device's own key";

  private final KitTest scene;
  /** The command that runs SQLCipher; empty if it is missing. */
  private final List<String> command = new ArrayList<>();

  SealedStoreTest(KitTest scene) throws Exception {
    this.scene = scene;
    for (Json word : Json.parse(Disk.read(scene.scene.resolve("scene.json"))).get("sqlcipher").items()) {
      command.add((String) word.value);
    }
  }

  private Database open(Path file, String key) throws Exception {
    return new CipherDatabase(command, file, key);
  }

  /** A kit whose app encrypts each store under the device's key; or it opens them with {@code own}. */
  private Attache kit(String name, String own) throws Exception {
    Attache kit =
        new Attache(scene.work.resolve(name), scene.owner, Trust.keys(scene.keys.get("sign")), (file, form) -> {
          if (form == Database.Form.PLAIN) return open(file, null);
          return open(file, form == Database.Form.SEALED ? PASSPHRASE : own == null ? DEVICE_KEY : own);
        }).sealedWith(PASSPHRASE);
    return own != null ? kit : kit.encryptedBy(this::export);
  }

  private void export(Path store, Path copy) throws Exception {
    boolean isPlain = Disk.form(store, Database.Form.SEALED) == Database.Form.PLAIN;
    try (Database database = open(store, isPlain ? null : PASSPHRASE)) {
      String key = DEVICE_KEY.replace("'", "''");
      database.execute("ATTACH DATABASE ? AS encrypted KEY '" + key + "'", copy.toString());
      database.query("PRAGMA encrypted.kdf_iter = 4000");
      database.query("SELECT sqlcipher_export('encrypted')");
      database.query("PRAGMA encrypted.user_version = 3");
      database.execute("DETACH DATABASE encrypted");
    }
  }

  private Path file(String name) {
    return scene.scene.resolve("android." + name);
  }

  private String content(String name, String key) throws Exception {
    return content(scene.store(name), key);
  }

  private String content(Path file, String key) throws Exception {
    try (Database database = open(file, key)) {
      return KitTest.content(database);
    }
  }

  private String plain(int generation) throws Exception {
    String name = "plain" + generation + "-" + System.nanoTime();
    Attache kit = scene.kit(name);
    kit.install(kit.verify(scene.own(generation)), () -> {}, NOW);
    return scene.content(name);
  }

  /** The first store of a return. */
  private Path returned(Attache kit, String name) throws Exception {
    Attache.Return store = kit.prepareReturn(scene.work.resolve(name), NOW);
    Path copy = scene.work.resolve(name + ".store");
    try (ZipFile zip = new ZipFile(store.file.toFile())) {
      String path = scene.work.resolve("x").relativize(scene.store("x")).toString();
      Files.copy(zip.getInputStream(zip.getEntry(path)), copy);
    }
    kit.delivered(store);
    return copy;
  }

  void run() {
    if (command.isEmpty()) return;
    test("sealed stores are exported under the device's key", () -> {
      Attache kit = kit("exported", null);
      kit.install(kit.verify(file("1.sqlcipher.zip")), () -> {}, NOW);
      expect(Disk.form(scene.store("exported"), Database.Form.DEVICE), Database.Form.DEVICE);
      expect(content("exported", DEVICE_KEY), plain(1));
      kit.install(kit.verify(file("1-2.sqlcipher.zip")), () -> {}, NOW);
      expect(kit.generation(), 2);
      expect(content("exported", DEVICE_KEY), plain(2));
    });
    test("plain stores are exported under the device's key", () -> {
      Attache kit = kit("devices", null);
      kit.install(kit.verify(scene.own(1)), () -> {}, NOW);
      expect(content("devices", DEVICE_KEY), plain(1));
      kit.install(kit.verify(scene.delta()), () -> {}, NOW);
      expect(content("devices", DEVICE_KEY), plain(2));
      Path copy = returned(kit, "devices.zip");
      expect(Disk.form(copy, Database.Form.SEALED), Database.Form.PLAIN);
    });
    test("a store that keeps the passphrase is re-keyed later", () -> {
      Attache first = kit("kept", PASSPHRASE);
      first.install(first.verify(file("1.sqlcipher.zip")), () -> {}, NOW);
      expect(content("kept", PASSPHRASE), plain(1));
      Path global = scene.work.resolve("kept/databases/smartstore.db");
      for (Path store : List.of(scene.store("kept"), global)) {
        try (Database database = open(store, PASSPHRASE)) {
          database.query("PRAGMA rekey = 'other'");
        }
      }
      Attache kit = kit("kept", "other");
      kit.install(kit.verify(file("1-2.sqlcipher.zip")), () -> {}, NOW);
      expect(content("kept", "other"), plain(2));
    });
    test("returns are sealed with the passphrase", () -> {
      Attache kit = kit("sealing", null);
      kit.install(kit.verify(file("1.sqlcipher.zip")), () -> {}, NOW);
      try (Database database = open(scene.store("sealing"), DEVICE_KEY)) {
        KitTest.edit(database, 0, true);
      }
      expect(kit.reasons().get(0).sentence, "Not sent.");
      Path copy = returned(kit, "sealing.zip");
      expect(content(copy, PASSPHRASE), content("sealing", DEVICE_KEY));
      expect(kit.hasChanges(), false);
      expect(kit.decide(NOW, kit.verify(file("2.sqlcipher.zip"))).action, Decision.Action.WAIT);
    });
  }
}
