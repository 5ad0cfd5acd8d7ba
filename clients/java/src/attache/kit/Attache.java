package attache.kit;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * The stores of one user in an app: installs bundles, applies deltas, and prepares returns.
 *
 * <p>Call {@code install} and {@code resume} while the SDK has the stores closed. Calls that write
 * wait for each other, also in another process.
 */
public final class Attache {
  private final Path root;
  private final Owner owner;
  private final Trust trust;
  private final Database.Opener opener;
  private final Path home;
  private String passphrase;
  private Database.Encryption encryption;
  /** Called with the name of each step of an installation; tests stop it there. */
  Steps steps = name -> {};

  interface Steps {
    void before(String name) throws Exception;
  }

  /**
   * Opens the stores of a user.
   *
   * @param root the directory that the paths of a bundle are relative to: the app's data directory
   * @param trust the keys that sign the bundles; null if the pipeline does not sign
   * @param opener opens a store with the key that it needs
   */
  public Attache(Path root, Owner owner, Trust trust, Database.Opener opener) {
    this.root = root;
    this.owner = owner;
    this.trust = trust;
    this.opener = opener;
    home = root.resolve(".attache").resolve(owner.pipeline).resolve(owner.user);
  }

  /** Sets the passphrase of sealed bundles. */
  public Attache sealedWith(String passphrase) {
    this.passphrase = passphrase;
    return this;
  }

  /** Sets how a store is encrypted before it is put in place. Android's SDK does not do it. */
  public Attache encryptedBy(Database.Encryption encryption) {
    this.encryption = encryption;
    return this;
  }

  /** Verifies a bundle, or a delta for the installed stores, with the {@code .sig} next to it. */
  public Offer verify(Path file) throws Exception {
    return verify(file, file.resolveSibling(file.getFileName() + ".sig"));
  }

  /** Verifies a bundle, or a delta for the installed stores. */
  public Offer verify(Path file, Path signature) throws Exception {
    resume();
    Offer offer = new Offer(file, signature, trust, owner, passphrase);
    if (offer.isDelta) {
      Decision.Installed installed = alone(() -> installed(List.of()));
      if (installed == null || !installed.stamps.equals(offer.offered().from)) {
        throw new Refusal(Refusal.Code.DELTA, "the delta is for other stores than the installed ones");
      }
    }
    return offer;
  }

  /** The generation of the installed bundle, which names the delta that a server may have; or 0. */
  public long generation() throws Exception {
    Decision.Installed installed = installed(List.of());
    return installed == null ? 0 : installed.generation;
  }

  /** Decides what to do next; the offers are a newer bundle and a delta to it, or nothing. */
  public Decision decide(Offer... offers) throws Exception {
    return decide(Instant.now(), offers);
  }

  Decision decide(Instant now, Offer... offers) throws Exception {
    return alone(() -> {
      resume();
      List<Decision.Offered> offered = new ArrayList<>();
      List<String> paths = new ArrayList<>();
      for (Offer offer : offers) {
        offered.add(offer.offered());
        paths.addAll(paths(offer.parts));
      }
      return Decision.about(installed(paths), offered, now);
    });
  }

  /** Whether the user has changed anything since the last return, or since the installation. */
  public boolean hasChanges() throws Exception {
    Decision.Installed installed = installed(List.of());
    return installed != null && installed.changed;
  }

  /** The reasons for which edits were not sent, of rows that still have local changes. */
  public List<Reason> reasons() throws Exception {
    List<Reason> reasons = new ArrayList<>();
    for (String path : existing(List.of())) {
      try (Store store = store(path)) {
        reasons.addAll(store.reasons());
      }
    }
    return reasons;
  }

  // MARK: installing

  /** Closes the stores in the SDK. */
  public interface Closing {
    void close() throws Exception;
  }

  /** Installs a bundle or applies a delta, if the decision about it allows that. */
  public void install(Offer offer) throws Exception {
    install(offer, () -> {});
  }

  /**
   * Installs a bundle or applies a delta, if the decision about it allows that.
   *
   * <p>{@code closing} closes the stores in the SDK, once everything is ready to be put in place; it
   * must not wait for another call of the kit. If the user changes something until then, nothing is
   * installed. After an interruption, the stores are the former ones, or {@code resume} completes the
   * installation.
   */
  public void install(Offer offer, Closing closing) throws Exception {
    install(offer, closing, Instant.now());
  }

  void install(Offer offer, Closing closing, Instant now) throws Exception {
    alone(() -> {
      resume();
      Map<String, String> former = seenAt(paths(offer.parts));
      Decision decision = decide(now, offer);
      if (decision.offer < 0) {
        throw new Refusal(Refusal.Code.NOT_ALLOWED, "the decision is " + decision.action);
      }
      prepare(offer, UUID.randomUUID().toString(), former);
      try {
        requireUnchanged(paths(offer.parts), former);
        if (!offer.isDelta) closing.close();
      } catch (Exception error) {
        abandon();
        throw error;
      }
      complete();
      return null;
    });
  }

  /**
   * Completes an interrupted installation, unless the user has changed something since. Call it at
   * the app's start, before the SDK opens a store.
   */
  public void resume() throws Exception {
    alone(() -> {
      try {
        complete();
      } catch (Refusal refusal) {
        if (refusal.code != Refusal.Code.NOT_ALLOWED) throw refusal;
      }
      return null;
    });
  }

  /** Puts everything in place that is ready. */
  private void complete() throws Exception {
    Disk.remove(home.resolve("staging"));
    Path ready = home.resolve("ready");
    String text = Disk.read(ready.resolve("plan.json"));
    if (text == null) {
      Disk.remove(ready);
      return;
    }
    Json plan = Json.parse(text);
    boolean isDelta = plan.flag("isDelta");
    State state = new State(plan.get("state"));
    String document = Disk.read(ready.resolve("manifest.json"));
    Manifest manifest = Manifest.parse(document);
    Map<String, String> former = new HashMap<>();
    for (String path : plan.get("former").members().keySet()) {
      former.put(path, plan.get("former").text(path));
    }
    if (!isBegun(manifest, isDelta, state.install, former)) {
      try {
        requireUnchanged(paths(manifest.stores), former);
      } catch (Exception error) {
        abandon();
        throw error;
      }
    }
    if (isDelta) {
      try {
        state.seen = applyDeltas(manifest, state.install);
      } catch (Exception error) {
        abandon();
        throw error;
      }
    } else {
      for (int index = 0; index < manifest.stores.size(); index++) {
        Path file = ready.resolve(String.valueOf(index));
        Path target = root.resolve(manifest.stores.get(index).path);
        if (!Files.exists(file)) continue;
        Files.createDirectories(target.getParent());
        for (String ending : new String[] {"-wal", "-shm", "-journal"}) {
          Disk.remove(target.resolveSibling(target.getFileName() + ending));
        }
        steps.before("rename " + index);
        Disk.rename(file, target);
      }
    }
    steps.before("record");
    state.write(home);
    Disk.write(home.resolve("manifest.json"), document);
    steps.before("clean");
    abandon();
  }

  /** Removes what is ready. */
  private void abandon() throws Exception {
    // The plan goes first: without it there is nothing to resume.
    Disk.remove(home.resolve("ready").resolve("plan.json"));
    steps.before("end");
    Disk.remove(home.resolve("ready"));
  }

  /** Whether an installation has put a store in place, or the app has removed one for it. */
  private boolean isBegun(Manifest manifest, boolean isDelta, String install, Map<String, String> former)
      throws Exception {
    for (String path : former.keySet()) if (!Files.exists(root.resolve(path))) return true;
    for (int index = 0; index < manifest.stores.size(); index++) {
      if (!isDelta) {
        if (!Files.exists(home.resolve("ready").resolve(String.valueOf(index)))) return true;
        continue;
      }
      Manifest.Part part = manifest.stores.get(index);
      try (Store store = store(part.path)) {
        Store.Stamp stamp = store.stamp();
        if (stamp != null && part.stampId.equals(stamp.stampId) && install.equals(stamp.install)) return true;
      }
    }
    return false;
  }

  /** Checks that the stores have the local changes that they had before. */
  private void requireUnchanged(List<String> paths, Map<String, String> former) throws Exception {
    for (Map.Entry<String, String> now : seenAt(paths).entrySet()) {
      if (!now.getValue().equals(former.get(now.getKey()))) {
        throw new Refusal(Refusal.Code.NOT_ALLOWED, "the user has changed something since the decision");
      }
    }
  }

  /** The local changes of each store, by its path. */
  private Map<String, String> seenAt(List<String> paths) throws Exception {
    Map<String, String> all = new LinkedHashMap<>();
    for (String path : existing(paths)) {
      try (Store store = store(path)) {
        all.put(path, seen(store.changes()));
      }
    }
    return all;
  }

  private static List<String> paths(List<Manifest.Part> parts) {
    List<String> paths = new ArrayList<>();
    for (Manifest.Part part : parts) paths.add(part.path);
    return paths;
  }

  /** Runs the body while no other call writes. */
  private <T> T alone(Callable<T> body) throws Exception {
    Files.createDirectories(home);
    return Gate.of(home.resolve("lock")).pass(body);
  }

  /** Unpacks, checks and marks everything in a directory, and renames that directory as a whole. */
  private void prepare(Offer offer, String install, Map<String, String> former) throws Exception {
    Path staging = home.resolve("staging");
    Disk.remove(staging);
    Files.createDirectories(staging);
    List<String> changes = new ArrayList<>();
    for (int index = 0; index < offer.parts.size(); index++) {
      Manifest.Part part = offer.parts.get(index);
      steps.before("extract " + index);
      Path file = staging.resolve(String.valueOf(index));
      offer.extract(part, file);
      if (offer.isDelta) continue;
      try (Store store = new Store(part.path, opener.open(file, Disk.form(file, Database.Form.SEALED)))) {
        steps.before("mark " + index);
        store.mark(install, 0);
        changes.addAll(store.changes());
      }
      if (encryption != null) {
        Path copy = staging.resolve(index + ".encrypted");
        encryption.encrypt(file, copy);
        Disk.rename(copy, file);
      }
    }
    Disk.write(staging.resolve("manifest.json"), offer.document);
    State state = new State(install);
    state.seen = seen(changes);
    Map<String, Object> plan = new LinkedHashMap<>();
    plan.put("isDelta", offer.isDelta);
    plan.put("former", former);
    plan.put("state", state.members());
    Disk.write(staging.resolve("plan.json"), Json.write(plan));
    if (offer.isDelta && offer.parts.size() > 1) {
      // A refusal by the last store would leave the others changed.
      for (int index = 0; index < offer.parts.size(); index++) {
        apply(staging.resolve(String.valueOf(index)), offer.parts.get(index).path, offer.manifest, install, true);
      }
    }
    steps.before("commit");
    Disk.rename(staging, home.resolve("ready"));
  }

  private String applyDeltas(Manifest manifest, String install) throws Exception {
    List<String> changes = new ArrayList<>();
    for (int index = 0; index < manifest.stores.size(); index++) {
      Manifest.Part part = manifest.stores.get(index);
      Store.Stamp stamp;
      try (Store store = store(part.path)) {
        stamp = store.stamp();
      }
      if (stamp == null || !part.stampId.equals(stamp.stampId) || !install.equals(stamp.install)) {
        steps.before("delta " + index);
        apply(home.resolve("ready").resolve(String.valueOf(index)), part.path, manifest, install, false);
      }
      try (Store store = store(part.path)) {
        changes.addAll(store.changes());
      }
    }
    return seen(changes);
  }

  private void apply(Path delta, String path, Manifest manifest, String install, boolean isTrial)
      throws Exception {
    try (Store store = store(path)) {
      store.apply(delta, manifest.kdfIterations == 0 ? null : passphrase, manifest.kdfIterations, install,
          isTrial, () -> {
            if (!isTrial) steps.before("statement");
          });
    }
  }

  // MARK: returning

  /** A return that is ready to be uploaded. */
  public static final class Return {
    public final Path file;
    private final String install;
    private final long handback;
    private final Instant at;
    private final String seen;

    private Return(Path file, String install, long handback, Instant at, String seen) {
      this.file = file;
      this.install = install;
      this.handback = handback;
      this.at = at;
      this.seen = seen;
    }
  }

  /**
   * Counts the return in the stores, copies them without the device's key, checks the copies, and
   * writes them as a file.
   *
   * <p>Upload the file under a name that ends in {@code .part}, rename it in the inbox, and then call
   * {@code delivered}, which removes it.
   */
  public Return prepareReturn(Path file) throws Exception {
    return prepareReturn(file, Instant.now());
  }

  Return prepareReturn(Path file, Instant now) throws Exception {
    return alone(() -> prepared(file, now));
  }

  private Return prepared(Path file, Instant now) throws Exception {
    resume();
    String document = Disk.read(home.resolve("manifest.json"));
    if (document == null) throw new Refusal(Refusal.Code.STORE, "the stores were not installed by this kit");
    Manifest manifest = Manifest.parse(document);
    State state = State.read(home);
    if (state == null) state = new State(UUID.randomUUID().toString());
    String install = null;
    long handback = 0;
    for (Manifest.Part part : manifest.stores) {
      try (Store store = store(part.path)) {
        Store.Stamp stamp = store.stamp();
        if (stamp == null) throw new Refusal(Refusal.Code.STORE, part.path + " has no stamp");
        handback = Math.max(handback, stamp.handback);
        if (install == null || part.scope.equals("user")) install = stamp.install;
      }
    }
    if (install == null) install = state.install;
    // The state of another installation says nothing about this one.
    if (!install.equals(state.install)) state = new State(install);
    handback++;
    for (Manifest.Part part : manifest.stores) {
      try (Store store = store(part.path)) {
        store.mark(install, handback);
      }
    }
    Path work = home.resolve("return");
    Disk.remove(work);
    Files.createDirectories(work);
    List<String> changes = new ArrayList<>();
    Path unfinished = file.resolveSibling(file.getFileName() + ".part");
    try (ZipOutputStream zip = new ZipOutputStream(Disk.create(unfinished))) {
      zip.putNextEntry(new ZipEntry("manifest.json"));
      zip.write(document.getBytes(StandardCharsets.UTF_8));
      for (Manifest.Part part : manifest.stores) {
        Path copy = work.resolve("copy");
        changes.addAll(copy(part.path, copy, manifest, install, handback));
        zip.putNextEntry(new ZipEntry(part.path));
        Files.copy(copy, zip);
        Disk.remove(copy);
      }
    } finally {
      Disk.remove(work);
    }
    if (!changes.isEmpty()) state.returnedWork = true;
    state.write(home);
    Disk.rename(unfinished, file);
    return new Return(file, install, handback, now, seen(changes));
  }

  /** Copies a store, checks the copy, and returns its local changes. */
  private List<String> copy(String path, Path copy, Manifest manifest, String install, long handback)
      throws Exception {
    try (Store store = store(path)) {
      store.copy(copy, manifest.returnIterations() == 0 ? null : passphrase, manifest.returnIterations());
    }
    try (Store copied = new Store(path, opener.open(copy, Disk.form(copy, Database.Form.SEALED)))) {
      copied.check();
      Store.Stamp stamp = copied.stamp();
      if (stamp == null || !install.equals(stamp.install) || stamp.handback != handback) {
        throw new Refusal(Refusal.Code.STORE, "the copy of " + path + " is not whole");
      }
      return copied.changes();
    }
  }

  /** Records that a return has arrived in the inbox, and removes its file. */
  public void delivered(Return returned) throws Exception {
    alone(() -> {
      State state = State.read(home);
      if (state != null && state.install.equals(returned.install)) {
        state.returned = returned.handback;
        state.returnedAt = returned.at;
        state.seen = returned.seen;
        state.write(home);
      }
      Disk.remove(returned.file);
      return null;
    });
  }

  // MARK: the state

  /** A digest of local changes. */
  private static String seen(List<String> changes) throws Exception {
    List<String> sorted = new ArrayList<>(changes);
    Collections.sort(sorted);
    byte[] text = String.join("\n", sorted).getBytes(StandardCharsets.UTF_8);
    return Offer.hex(MessageDigest.getInstance("SHA-256").digest(text));
  }

  /** What the kit records about an installation. */
  private static final class State {
    String install;
    /** The local changes at the installation or the last return. */
    String seen;
    boolean returnedWork;
    long returned;
    Instant returnedAt;

    State(String install) {
      this.install = install;
    }

    State(Json json) throws Refusal {
      install = json.text("install");
      seen = json.optionalText("seen");
      returnedWork = json.flag("returnedWork");
      returned = json.number("returned");
      returnedAt = json.time("returnedAt");
    }

    static State read(Path home) throws Exception {
      String text = Disk.read(home.resolve("state.json"));
      return text == null ? null : new State(Json.parse(text));
    }

    Map<String, Object> members() {
      Map<String, Object> members = new LinkedHashMap<>();
      members.put("install", install);
      members.put("seen", seen);
      members.put("returnedWork", returnedWork);
      members.put("returned", returned);
      members.put("returnedAt", returnedAt);
      return members;
    }

    void write(Path home) throws Exception {
      Disk.write(home.resolve("state.json"), Json.write(members()));
    }
  }

  private Decision.Installed installed(List<String> offered) throws Exception {
    String document = Disk.read(home.resolve("manifest.json"));
    Manifest manifest = document == null ? null : Manifest.parse(document);
    List<String> users = new ArrayList<>();
    if (manifest != null) {
      for (Manifest.Part part : manifest.stores) if (part.scope.equals("user")) users.add(part.path);
    }
    Decision.Installed installed = new Decision.Installed();
    List<String> changes = new ArrayList<>();
    Store.Stamp own = null;
    boolean isUser = false;
    for (String path : existing(offered)) {
      try (Store store = store(path)) {
        Store.Stamp stamp = store.stamp();
        changes.addAll(store.changes());
        installed.stamps.put(path, stamp == null ? "" : stamp.stampId);
        if (stamp == null) continue;
        installed.handback = Math.max(installed.handback, stamp.handback);
        installed.carried |= stamp.carried;
        if (own == null || (!isUser && users.contains(path))) own = stamp;
        isUser |= users.contains(path);
      }
    }
    if (installed.stamps.isEmpty()) return null;
    State state = State.read(home);
    if (state != null && (own == null || !state.install.equals(own.install))) state = null;
    installed.stampId = own == null ? "" : own.stampId;
    installed.generation = own == null ? 0 : own.generation;
    installed.install = own == null ? null : own.install;
    installed.created = state == null || manifest == null ? null : manifest.created;
    installed.dirty = changes.size();
    installed.changed =
        state == null || state.seen == null
            ? !changes.isEmpty() || installed.carried
            : !state.seen.equals(seen(changes));
    if (state != null) {
      installed.returnedWork = state.returnedWork;
      installed.returned = state.returned;
      installed.returnedAt = state.returnedAt;
    }
    return installed;
  }

  /** The paths of the stores of the installed bundle, and others, of those that exist. */
  private List<String> existing(List<String> offered) throws Exception {
    TreeSet<String> paths = new TreeSet<>(offered);
    String document = Disk.read(home.resolve("manifest.json"));
    if (document != null) for (Manifest.Part part : Manifest.parse(document).stores) paths.add(part.path);
    paths.removeIf(path -> !Files.exists(root.resolve(path)));
    return new ArrayList<>(paths);
  }

  private Store store(String path) throws Exception {
    Path file = root.resolve(path);
    if (!Files.exists(file)) throw new Refusal(Refusal.Code.STORE, path + " is missing");
    return new Store(path, opener.open(file, Disk.form(file, Database.Form.DEVICE)));
  }
}
