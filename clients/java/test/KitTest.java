package attache.kit;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;

/** The tests of the kit: {@code KitTest DECISIONS SCENE}. */
final class KitTest {
  private static int passed;
  private static int failed;
  static final Instant NOW = Instant.parse("2026-02-10T00:00:00Z");

  final Path scene;
  final Path work;
  final Map<String, String> keys = new HashMap<>();
  final Owner owner;

  interface Body {
    void run() throws Exception;
  }

  static void test(String name, Body body) {
    try {
      body.run();
      passed++;
    } catch (Throwable error) {
      failed++;
      System.out.println(name + ": " + error);
      for (StackTraceElement line : error.getStackTrace()) {
        if (line.getClassName().startsWith("attache")) System.out.println("    " + line);
      }
    }
  }

  static void expect(Object found, Object wanted) {
    if (!String.valueOf(found).equals(String.valueOf(wanted))) {
      throw new AssertionError("is " + found + ", not " + wanted);
    }
  }

  static void refused(Refusal.Code code, Body body) throws Exception {
    try {
      body.run();
    } catch (Refusal refusal) {
      expect(refusal.code, code);
      return;
    }
    throw new AssertionError("is not refused");
  }

  private KitTest(Path scene) throws Exception {
    this.scene = scene;
    work = Files.createTempDirectory("kit");
    Json facts = Json.parse(Disk.read(scene.resolve("scene.json")));
    for (String name : new String[] {"sign", "other"}) keys.put(name, facts.text(name));
    owner = new Owner(facts.text("org"), facts.text("user"), "visits");
  }

  public static void main(String[] words) throws Exception {
    Json table = Json.parse(Disk.read(Path.of(words[0])));
    decisions(table);
    sealedFormat();
    if (words.length > 1) {
      KitTest all = new KitTest(Path.of(words[1]));
      all.refusals(table);
      all.signatures();
      all.archives();
      all.installations();
      all.deltas();
      all.sealedArchives();
      new SealedStoreTest(all).run();
      new StrangerTest(all).run();
      all.returns();
      Disk.remove(all.work);
    }
    System.out.println("java: " + passed + " passed, " + failed + " failed");
    System.exit(failed > 0 ? 1 : 0);
  }

  // MARK: the table

  private static void decisions(Json table) throws Exception {
    String[] names = table.get("facts").members().keySet().toArray(new String[0]);
    for (int set = 0; set < 1 << names.length; set++) {
      Decision.Facts facts = new Decision.Facts();
      Map<String, Boolean> values = new HashMap<>();
      for (int index = 0; index < names.length; index++) {
        values.put(names[index], (set >> index & 1) == 1);
        Decision.Facts.class.getField(names[index]).setBoolean(facts, (set >> index & 1) == 1);
      }
      test("the facts " + values, () -> expect(word(facts.action()), rule(table, values)));
    }
    for (Json one : table.get("cases").items()) {
      test(one.text("name"), () -> {
        List<Decision.Offered> offers = new ArrayList<>();
        for (Json offer : one.get("offers").items()) offers.add(offered(offer));
        Json installed = one.find("installed");
        Decision decision =
            Decision.about(installed == null ? null : installed(installed), offers, one.time("now"));
        Json wanted = one.get("expect");
        expect(word(decision.action), wanted.text("action"));
        expect(decision.offer, wanted.find("offer") == null ? -1 : wanted.number("offer"));
        expect(decision.isExpired, wanted.flag("isExpired"));
      });
    }
  }

  private static String word(Decision.Action action) {
    return action.name().toLowerCase(java.util.Locale.ROOT);
  }

  private static String rule(Json table, Map<String, Boolean> values) throws Refusal {
    for (Json rule : table.get("rules").items()) {
      boolean holds = true;
      for (Map.Entry<String, Json> fact : rule.get("if").members().entrySet()) {
        holds &= fact.getValue().value.equals(values.get(fact.getKey()));
      }
      if (holds) return rule.text("then");
    }
    throw new AssertionError("no rule");
  }

  private static Map<String, String> texts(Json json) throws Refusal {
    Map<String, String> texts = new HashMap<>();
    for (String name : json.members().keySet()) texts.put(name, json.text(name));
    return texts;
  }

  private static Decision.Offered offered(Json json) throws Refusal {
    Decision.Offered offered = new Decision.Offered();
    offered.generation = json.number("generation");
    offered.created = json.time("created");
    offered.expires = json.time("expires");
    offered.includes = new ArrayList<>();
    for (Json include : json.get("includes").items()) offered.includes.add(new Manifest.Include(include));
    if (json.find("from") != null) offered.from = texts(json.get("from"));
    return offered;
  }

  private static Decision.Installed installed(Json json) throws Refusal {
    Decision.Installed installed = new Decision.Installed();
    installed.generation = json.number("generation");
    installed.created = json.time("created");
    installed.stampId = json.text("stampId");
    installed.install = json.optionalText("install");
    installed.handback = json.number("handback");
    installed.stamps = texts(json.get("stamps"));
    installed.dirty = (int) json.number("dirty");
    installed.carried = json.flag("carried");
    installed.returnedWork = json.flag("returnedWork");
    installed.changed = json.flag("changed");
    if (json.find("returned") != null) {
      installed.returned = json.get("returned").number("handback");
      installed.returnedAt = json.get("returned").time("at");
    }
    return installed;
  }

  private void refusals(Json table) throws Exception {
    Json facts = Json.parse(read(bundle(1), "manifest.json"));
    for (Json one : table.get("refusals").items()) {
      test(one.text("name"), () -> {
        Map<String, Object> members = new HashMap<>();
        facts.members().forEach((name, member) -> members.put(name, plain(member)));
        one.get("change").members().forEach((name, member) -> members.put(name, plain(member)));
        Manifest manifest = Manifest.parse(Json.write(members));
        if (one.find("code") == null) owner("ios").check(manifest);
        else refused(Refusal.Code.valueOf(one.text("code").toUpperCase()), () -> owner("ios").check(manifest));
      });
    }
  }

  /** The table is written for iOS, so its manifest is too. */
  private Owner owner(String platform) {
    return new Owner(owner.org, owner.user, owner.pipeline, platform);
  }

  @SuppressWarnings("unchecked")
  private static Object plain(Json json) {
    if (json.value instanceof Map) {
      Map<String, Object> members = new HashMap<>();
      ((Map<String, Json>) json.value).forEach((name, member) -> members.put(name, plain(member)));
      return members;
    }
    if (json.value instanceof List) {
      List<Object> items = new ArrayList<>();
      for (Json item : (List<Json>) json.value) items.add(plain(item));
      return items;
    }
    return json.value;
  }

  // MARK: files

  Path bundle(int generation) {
    return scene.resolve(generation + "/ios.bundle.zip");
  }

  Path own(int generation) {
    return scene.resolve(generation + "/android.bundle.zip");
  }

  Path delta() {
    return scene.resolve("android.delta.1-2.zip");
  }

  static String read(Path archive, String entry) throws Exception {
    try (ZipFile zip = new ZipFile(archive.toFile())) {
      return new String(zip.getInputStream(zip.getEntry(entry)).readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private Path sealed(String name) {
    return scene.resolve("android." + name + ".archive.zip");
  }

  Attache kit(String name) throws Exception {
    return new Attache(work.resolve(name), owner, Trust.keys(keys.get("other"), keys.get("sign")),
        (file, form) -> {
          expect(form, Database.Form.PLAIN);
          return new JdbcDatabase(file);
        });
  }

  Attache installed(String name) throws Exception {
    Attache kit = kit(name);
    kit.install(kit.verify(own(1)), () -> {}, NOW);
    return kit;
  }

  Path store(String name) {
    return work.resolve(name).resolve(
        "databases/smartstore_" + owner.org + "_" + owner.user + "_internal.db");
  }

  /** Changes a row as the SDK does. */
  void edit(String name, int row, boolean isLocal) throws Exception {
    try (JdbcDatabase database = new JdbcDatabase(store(name))) {
      edit(database, row, isLocal);
    }
  }

  static void edit(Database database, int row, boolean isLocal) throws Exception {
    String table = "TABLE_" + database.query("SELECT id FROM soup_attrs WHERE soupName = 'accounts'").get(0)[0];
    String column = database.query(
        "SELECT columnName FROM soup_index_map WHERE soupName = 'accounts' AND path = '__local__'").get(0)[0];
    String id = database.query("SELECT id FROM " + table + " ORDER BY id LIMIT 1 OFFSET " + row).get(0)[0];
    database.execute(
        "UPDATE " + table + " SET soup = json_set(soup, '$.__local__', json('" + isLocal + "'), "
            + "'$.__last_error__', 'Not sent.'), lastModified = lastModified + 1000, " + column + " = '"
            + isLocal + "' WHERE id = " + id);
  }

  // MARK: signatures

  private void signatures() throws Exception {
    byte[] document = read(own(1), "manifest.json").getBytes(StandardCharsets.UTF_8);
    byte[] signature = Files.readAllBytes(scene.resolve("1/android.bundle.zip.sig"));
    Trust trust = Trust.keys(keys.get("sign"));
    test("a valid signature", () -> trust.verify(document, signature));
    test("a second key", () -> Trust.keys(keys.get("other"), keys.get("sign")).verify(document, signature));
    test("the other algorithm", () -> Trust.keys(keys.get("other")).verify(
        Files.readAllBytes(scene.resolve("document")), Files.readAllBytes(scene.resolve("document.sig"))));
    test("another key", () -> refused(Refusal.Code.KEY, () -> Trust.keys(keys.get("other")).verify(document, signature)));
    test("another namespace", () -> refused(Refusal.Code.NAMESPACE,
        () -> Trust.inNamespace("other", keys.get("sign")).verify(document, signature)));
    test("a key that is none", () -> refused(Refusal.Code.KEY, () -> Trust.keys("ssh-rsa AAAA")));
    test("every byte of the manifest", () -> flip(document, changed -> trust.verify(changed, signature)));
    test("every byte of the signature", () -> flip(signature, changed -> trust.verify(document, changed)));
    byte[] delta = read(delta(), "delta.json").getBytes(StandardCharsets.UTF_8);
    byte[] other = Files.readAllBytes(Path.of(delta() + ".sig"));
    test("every byte of a delta", () -> {
      trust.verify(delta, other);
      flip(delta, changed -> trust.verify(changed, other));
      flip(other, changed -> trust.verify(delta, changed));
    });
    test("a shortened signature", () -> {
      for (int count = 0; count < signature.length; count += 7) {
        byte[] start = java.util.Arrays.copyOf(signature, count);
        refused(Refusal.Code.SIGNATURE, () -> trust.verify(document, start));
      }
    });
  }

  interface Check {
    void of(byte[] bytes) throws Exception;
  }

  private static void flip(byte[] bytes, Check check) {
    int[] accepted = IntStream.range(0, bytes.length).parallel().filter(place -> {
      byte[] changed = bytes.clone();
      changed[place] ^= 1 << place % 8;
      try {
        check.of(changed);
      } catch (Refusal refusal) {
        return false;
      } catch (Exception error) {
        throw new AssertionError("byte " + place, error);
      }
      return true;
    }).toArray();
    if (accepted.length > 0) throw new AssertionError("byte " + accepted[0] + " is not refused");
  }

  // MARK: archives

  /** A copy of a bundle with other entries; a null content removes one. */
  private Path rewritten(Path archive, String name, String entry, byte[] content) throws Exception {
    Path copy = work.resolve(name);
    try (ZipFile zip = new ZipFile(archive.toFile());
        ZipOutputStream target = new ZipOutputStream(Files.newOutputStream(copy))) {
      boolean isNew = zip.getEntry(entry) == null;
      for (ZipEntry one : java.util.Collections.list(zip.entries())) {
        byte[] bytes = zip.getInputStream(one).readAllBytes();
        if (one.getName().equals(entry)) bytes = content;
        if (bytes == null) continue;
        target.putNextEntry(new ZipEntry(one.getName()));
        target.write(bytes);
      }
      if (isNew) {
        target.putNextEntry(new ZipEntry(entry));
        target.write(content);
      }
    }
    Files.copy(Path.of(archive + ".sig"), work.resolve(name + ".sig"));
    return copy;
  }

  private void archives() throws Exception {
    Attache kit = kit("archives");
    String path = store("x").toString().substring(work.resolve("x").toString().length() + 1);
    test("a bundle", () -> expect(kit.verify(own(1)).manifest.generation, 1));
    test("a bundle of the other platform", () -> refused(Refusal.Code.PLATFORM, () -> kit.verify(bundle(1))));
    test("no signature", () -> refused(Refusal.Code.SIGNATURE, () -> kit.verify(own(1), work.resolve("none"))));
    test("the signature of another bundle", () -> refused(
        Refusal.Code.SIGNATURE, () -> kit.verify(own(1), scene.resolve("2/android.bundle.zip.sig"))));
    test("a bundle without a store", () -> refused(
        Refusal.Code.CONTENTS, () -> kit.verify(rewritten(own(1), "less.zip", path, null))));
    test("a bundle with another file", () -> refused(
        Refusal.Code.CONTENTS, () -> kit.verify(rewritten(own(1), "more.zip", "../more", new byte[1]))));
    test("a changed byte of a store", () -> {
      byte[] bytes;
      try (ZipFile zip = new ZipFile(own(1).toFile())) {
        bytes = zip.getInputStream(zip.getEntry(path)).readAllBytes();
      }
      bytes[5000] ^= 1;
      refused(Refusal.Code.CONTENTS, () -> kit.verify(rewritten(own(1), "changed.zip", path, bytes)));
    });
    test("something else", () -> {
      Files.write(work.resolve("else"), new byte[100]);
      refused(Refusal.Code.ARCHIVE, () -> kit.verify(work.resolve("else")));
    });
    test("a file that was changed after it was verified", () -> {
      Path copy = Files.copy(own(1), work.resolve("later.zip"));
      Files.copy(Path.of(own(1) + ".sig"), work.resolve("later.zip.sig"));
      Offer offer = kit.verify(copy);
      Files.delete(copy);
      Files.copy(own(2), copy);
      refused(Refusal.Code.CONTENTS, () -> kit.install(offer, () -> {}, NOW));
      expect(kit.generation(), 0);
    });
  }

  // MARK: installing

  static final class Stop extends RuntimeException {}

  /** Stops a call at each of its steps; returns the number of steps. */
  private static int stopping(Attache kit, int step, Body body) throws Exception {
    int[] count = {0};
    kit.steps = name -> {
      if (count[0]++ == step) throw new Stop();
    };
    try {
      body.run();
    } catch (Stop stop) {
      return -1;
    } finally {
      kit.steps = name -> {};
    }
    return count[0];
  }

  private void installations() throws Exception {
    test("an installation", () -> {
      Attache kit = installed("one");
      expect(kit.generation(), 1);
      expect(kit.hasChanges(), false);
      expect(word(kit.decide(NOW).action), "wait");
      expect(word(kit.decide(NOW, kit.verify(own(2))).action), "install");
      refused(Refusal.Code.NOT_ALLOWED, () -> kit.install(kit.verify(own(1)), () -> {}, NOW));
      String[] first = stamp("one");
      kit.install(kit.verify(own(2)), () -> {}, NOW);
      expect(kit.generation(), 2);
      expect(stamp("one")[1], "0");
      if (stamp("one")[0].equals(first[0])) throw new AssertionError("the same installation");
      refused(Refusal.Code.NOT_ALLOWED, () -> kit.install(kit.verify(own(1)), () -> {}, NOW));
    });
    test("unsent edits are returned first", () -> {
      Attache kit = installed("edited");
      edit("edited", 0, true);
      expect(kit.hasChanges(), true);
      expect(word(kit.decide(NOW, kit.verify(own(2))).action), "return");
      refused(Refusal.Code.NOT_ALLOWED, () -> kit.install(kit.verify(own(2)), () -> {}, NOW));
      expect(kit.generation(), 1);
      expect(kit.reasons().get(0).sentence, "Not sent.");
    });
    test("a log of the old store is removed", () -> {
      Attache kit = installed("log");
      Files.write(Path.of(store("log") + "-wal"), new byte[0]);
      kit.install(kit.verify(own(2)), () -> {}, NOW);
      expect(Files.exists(Path.of(store("log") + "-wal")), false);
    });
    test("an installation that is stopped at each step", () -> {
      int old = 0;
      for (int step = 0; ; step++) {
        String name = "stop" + step;
        Attache kit = installed(name);
        Offer offer = kit.verify(own(2));
        if (stopping(kit, step, () -> kit.install(offer, () -> {}, NOW)) >= 0) break;
        Attache again = kit(name);
        again.resume();
        long generation = again.generation();
        if (generation == 1) old++;
        expect(stamps(name).get(0).split(" ")[0], generation);
        expect(stamps(name).get(0).split(" ")[1], stamps(name).get(1).split(" ")[1]);
        expect(again.hasChanges(), false);
        expect(word(again.decide(NOW, again.verify(own(2))).action), generation == 1 ? "install" : "wait");
      }
      // Every step up to the one rename of everything.
      expect(old, 5);
    });
  }

  private String[] stamp(String name) throws Exception {
    return stamps(name).get(0).substring(2).split(" ");
  }

  /** The generation, the installation and the number of the returns of each store. */
  List<String> stamps(String name) throws Exception {
    List<String> stamps = new ArrayList<>();
    for (Path file : new Path[] {store(name), work.resolve(name).resolve("databases/smartstore.db")}) {
      try (Store store = new Store("", new JdbcDatabase(file))) {
        Store.Stamp stamp = store.stamp();
        stamps.add(stamp.generation + " " + stamp.install + " " + stamp.handback);
      }
    }
    return stamps;
  }

  // MARK: sealed archives

  private static byte[] opened(byte[] sealed, String passphrase) throws Exception {
    java.io.ByteArrayOutputStream content = new java.io.ByteArrayOutputStream();
    SealedArchive.open(new java.io.ByteArrayInputStream(sealed), passphrase, content);
    return content.toByteArray();
  }

  private static void sealedFormat() {
    byte[] key = new byte[32];
    for (int index = 0; index < key.length; index++) key[index] = (byte) index;
    String passphrase = java.util.Base64.getEncoder().encodeToString(key);
    // Computed with Python's cryptography package.
    byte[] bytes =
        new java.math.BigInteger(
                "4154545345414c31202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f"
                    + "1f4936a0e044871c07508abd6bec8539372148ccc1908bf352675db32a029225e98a8a1b3f6c47",
                16)
            .toByteArray();
    test("a sealed archive of another implementation", () ->
        expect(new String(opened(bytes, passphrase), StandardCharsets.UTF_8), "attache"));
    test("a sealed archive that is cut or changed", () -> {
      for (int place = 0; place < bytes.length; place++) {
        byte[] changed = bytes.clone();
        changed[place] ^= 1;
        for (byte[] wrong : List.of(java.util.Arrays.copyOf(bytes, place), changed)) {
          try {
            opened(wrong, passphrase);
          } catch (Refusal refusal) {
            continue;
          }
          throw new AssertionError("byte " + place + " is not refused");
        }
      }
      refused(Refusal.Code.CONTENTS, () -> opened(java.util.Arrays.copyOf(bytes, bytes.length + 1), passphrase));
    });
    test("a sealed archive with another passphrase", () -> {
      for (String other : new String[] {null, "text", "bm90IGEgc2VjcmV0LCBvbmx5IGEgdGVzdCdzIHdvcmQ="}) {
        refused(Refusal.Code.SEAL, () -> opened(bytes, other));
      }
    });
  }

  private void sealedArchives() throws Exception {
    String passphrase = "bm90IGEgc2VjcmV0LCBvbmx5IGEgdGVzdCdzIHdvcmQ=";
    test("a sealed bundle and a sealed delta", () -> {
      installed("plain");
      Attache kit = kit("sealed").sealedWith(passphrase);
      kit.install(kit.verify(sealed("1")), () -> {}, NOW);
      expect(content("sealed"), content("plain"));
      kit.install(kit.verify(sealed("1-2")), () -> {}, NOW);
      Attache plain = kit("plain");
      plain.install(plain.verify(own(2)), () -> {}, NOW);
      expect(content("sealed"), content("plain"));
    });
    test("a sealed bundle without its passphrase", () -> {
      refused(Refusal.Code.SEAL, () -> kit("locked").verify(sealed("1")));
      refused(Refusal.Code.SEAL, () -> kit("locked").sealedWith("text").verify(sealed("1")));
    });
  }

  // MARK: deltas

  private void deltas() throws Exception {
    test("a delta for no store", () -> refused(Refusal.Code.DELTA, () -> kit("none").verify(delta())));
    test("a delta", () -> {
      Attache kit = installed("delta");
      Offer offer = kit.verify(delta());
      expect(word(kit.decide(NOW, offer).action), "delta");
      kit.install(offer, () -> {}, NOW);
      expect(kit.generation(), 2);
      expect(word(kit.decide(NOW, kit.verify(own(2))).action), "wait");
      installed("whole");
      Attache whole = kit("whole");
      whole.install(whole.verify(own(2)), () -> {}, NOW);
      expect(content("delta"), content("whole"));
      refused(Refusal.Code.DELTA, () -> kit.verify(delta()));
    });
    test("a delta over rows that it does not have", () -> {
      Attache kit = installed("foreign");
      edit("foreign", 60, false);
      Offer offer = kit.verify(delta());
      String before = content("foreign");
      refused(Refusal.Code.DELTA, () -> kit.install(offer, () -> {}, NOW));
      expect(content("foreign"), before);
      expect(kit.generation(), 1);
    });
    test("a delta that is stopped at each step", () -> {
      String whole = content("whole");
      for (int step = 0; ; step++) {
        String name = "half" + step;
        Attache kit = installed(name);
        String before = content(name);
        Offer offer = kit.verify(delta());
        if (stopping(kit, step, () -> kit.install(offer, () -> {}, NOW)) >= 0) break;
        if (!content(name).equals(before) && !content(name).equals(whole)) throw new AssertionError("step " + step);
        Attache again = kit(name);
        again.resume();
        expect(content(name), again.generation() == 1 ? before : whole);
        Disk.remove(work.resolve(name));
      }
    });
  }

  /** Every row of the user's store, without the mark of the installation. */
  String content(String name) throws Exception {
    try (JdbcDatabase database = new JdbcDatabase(store(name))) {
      return content(database);
    }
  }

  static String content(Database database) throws Exception {
    StringBuilder text = new StringBuilder();
    for (String[] soup : database.query("SELECT soupName, id FROM soup_attrs ORDER BY id")) {
      String columns = soup[0].equals("attache_stamp") ? "id, json_extract(soup, '$.stampId')" : "*";
      for (String[] row : database.query("SELECT " + columns + " FROM TABLE_" + soup[1] + " ORDER BY id")) {
        text.append(String.join("\t", row)).append('\n');
      }
    }
    for (String[] row : database.query("SELECT name, seq FROM sqlite_sequence ORDER BY name")) {
      text.append(String.join("\t", row)).append('\n');
    }
    expect(database.query("PRAGMA integrity_check").get(0)[0], "ok");
    return text.toString();
  }

  // MARK: returning

  private void returns() throws Exception {
    test("a return", () -> {
      Attache kit = installed("return");
      edit("return", 0, true);
      Attache.Return first = kit.prepareReturn(work.resolve("first.zip"), NOW);
      expect(stamps("return").get(0).split(" ")[2], 1);
      expect(stamps("return").get(1).split(" ")[2], 1);
      expect(read(first.file, "manifest.json"), read(own(1), "manifest.json"));
      expect(word(kit.decide(NOW, kit.verify(own(2))).action), "return");
      kit.delivered(first);
      expect(Files.exists(first.file), false);
      expect(kit.hasChanges(), false);
      expect(word(kit.decide(NOW, kit.verify(own(2))).action), "wait");
      edit("return", 1, true);
      expect(kit.hasChanges(), true);
      expect(word(kit.decide(NOW).action), "return");
    });
    test("changes that the app synced after their return", () -> {
      Attache kit = installed("synced");
      edit("synced", 0, true);
      kit.prepareReturn(work.resolve("second.zip"), NOW);
      edit("synced", 0, false);
      expect(word(kit.decide(NOW, kit.verify(own(2))).action), "return");
      kit.delivered(kit.prepareReturn(work.resolve("second.zip"), NOW));
      expect(word(kit.decide(NOW, kit.verify(own(2))).action), "wait");
    });
    test("an edit between a return and its arrival", () -> {
      Attache kit = installed("between");
      edit("between", 0, true);
      Attache.Return first = kit.prepareReturn(work.resolve("third.zip"), NOW);
      edit("between", 1, true);
      kit.delivered(first);
      expect(kit.hasChanges(), true);
    });
    test("edits that are only in a log", () -> {
      Attache kit = installed("wal");
      try (JdbcDatabase open = new JdbcDatabase(store("wal"))) {
        open.query("PRAGMA journal_mode = WAL");
        edit("wal", 0, true);
        Attache.Return first = kit.prepareReturn(work.resolve("wal.zip"), NOW);
        kit.delivered(first);
        expect(kit.hasChanges(), false);
      }
    });
  }
}
