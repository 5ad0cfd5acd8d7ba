package attache.kit;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** The description of a bundle: {@code manifest.json}. */
public final class Manifest {
  public final long format;
  public final String org;
  public final String user;
  public final String pipeline;
  public final String platform;
  public final String stampId;
  public final long generation;
  public final Instant created;
  /** Null if the bundle does not expire. */
  public final Instant expires;
  /** The KDF rounds of sealed stores; 0 if they are plain, also in a sealed archive. */
  public final int kdfIterations;
  /** Whether the archive with the stores is sealed. */
  public final boolean isArchiveSealed;
  public final List<Part> stores = new ArrayList<>();
  public final List<Include> includes = new ArrayList<>();
  /** Sentences for the user: data that was missing when the stores were created. */
  public final List<String> warnings = new ArrayList<>();

  Manifest(Json json) throws Refusal {
    format = json.number("format");
    org = json.text("org");
    user = json.text("user");
    pipeline = json.text("pipeline");
    platform = json.text("platform");
    stampId = json.text("stampId");
    generation = json.number("generation");
    json.get("created");
    created = json.time("created");
    expires = json.time("expires");
    Json seal = json.find("seal");
    isArchiveSealed = seal != null && seal.text("with").equals("archive");
    kdfIterations = seal == null || isArchiveSealed ? 0 : (int) seal.number("kdfIterations");
    for (Json store : json.get("stores").items()) {
      String path = store.text("path");
      stores.add(
          new Part(path, path, store.text("scope"), store.number("bytes"), store.text("sha256"),
              store.text("stampId"), null));
    }
    for (Json include : json.get("includes").items()) includes.add(new Include(include));
    for (Json warning : json.get("warnings").items()) warnings.add(String.valueOf(warning.value));
  }

  /** The KDF rounds of the stores of a sealed return; 0 if it is plain. */
  int returnIterations() {
    return isArchiveSealed ? 4000 : kdfIterations;
  }

  static Manifest parse(String text) throws Refusal {
    return new Manifest(Json.parse(text));
  }

  /** A return whose edits are all resolved or in the bundle. */
  public static final class Include {
    public final String stampId;
    public final String install;
    public final Long handback;

    Include(Json json) throws Refusal {
      stampId = json.text("stampId");
      install = json.optionalText("install");
      handback = json.find("handback") == null ? null : json.number("handback");
    }
  }

  /** A store, or its delta. */
  public static final class Part {
    /** The path of the store. */
    public final String path;
    final String entry;
    final String scope;
    final long bytes;
    final String sha256;
    final String stampId;
    /** The stamp ID of the store that a delta is for. */
    final String from;

    Part(String path, String entry, String scope, long bytes, String sha256, String stampId, String from) {
      this.path = path;
      this.entry = entry;
      this.scope = scope;
      this.bytes = bytes;
      this.sha256 = sha256;
      this.stampId = stampId;
      this.from = from;
    }
  }
}
