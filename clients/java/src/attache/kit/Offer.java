package attache.kit;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Set;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/** A verified bundle or delta. */
public final class Offer {
  private static final int LONGEST = 8 << 20;

  public final Manifest manifest;
  /** Whether it is a delta. */
  public final boolean isDelta;
  /** {@code manifest.json}: of the bundle, or of the one that the delta leads to. */
  final String document;
  final List<Manifest.Part> parts = new ArrayList<>();
  private final Path file;
  /** The opened archive of a sealed one; null if the archive is not sealed. */
  private final ZipFile opened;

  /**
   * Verifies a file: signature, user, and the digest of every entry.
   *
   * <p>If {@code trust} is null, no signature is needed: only for a pipeline that does not sign, over
   * a channel that is authenticated. A sealed archive is opened with the passphrase.
   */
  Offer(Path file, Path signature, Trust trust, Owner owner, String passphrase) throws Exception {
    this.file = file;
    try (ZipFile archive = new ZipFile(file.toFile())) {
      List<? extends ZipEntry> entries = Collections.list(archive.entries());
      String first = entries.isEmpty() ? "" : entries.get(0).getName();
      if (!first.equals("manifest.json") && !first.equals("delta.json")) {
        throw new Refusal(Refusal.Code.ARCHIVE, "the file is neither a bundle nor a delta");
      }
      isDelta = first.equals("delta.json");
      byte[] bytes = read(archive, entries.get(0));
      if (trust != null) {
        if (signature == null || !Files.exists(signature)) {
          throw new Refusal(Refusal.Code.SIGNATURE, "the signature is missing");
        }
        trust.verify(bytes, Files.readAllBytes(signature));
      }
      Json json = Json.parse(new String(bytes, StandardCharsets.UTF_8));
      if (isDelta && json.number("format") != 1) {
        throw new Refusal(Refusal.Code.FORMAT, "format " + json.number("format") + " needs a newer app");
      }
      document = isDelta ? json.get("to").text : new String(bytes, StandardCharsets.UTF_8);
      manifest = Manifest.parse(document);
      owner.check(manifest);
      if (isDelta) {
        for (Json store : json.get("stores").items()) {
          parts.add(
              new Manifest.Part(store.text("path"), store.text("file"), null, store.number("bytes"),
                  store.text("sha256"), null, store.get("from").text("stampId")));
        }
      } else {
        parts.addAll(manifest.stores);
      }
      Json seal = json.find("seal");
      boolean isSealed = seal != null && seal.text("with").equals("archive");
      Refusal others =
          new Refusal(Refusal.Code.CONTENTS, "the archive has other files than " + first + " names");
      if (isSealed != manifest.isArchiveSealed
          || isSealed && (entries.size() != 2 || !entries.get(1).getName().equals(SealedArchive.ENTRY))) {
        throw others;
      }
      opened = isSealed ? open(archive, seal, passphrase, file) : null;
      if (isSealed) {
        List<ZipEntry> all = new ArrayList<>();
        all.add(entries.get(0));
        all.addAll(Collections.list(opened.entries()));
        entries = all;
      }
      boolean isSame =
          !parts.isEmpty() && parts.size() == manifest.stores.size() && entries.size() == parts.size() + 1;
      Set<String> paths = new HashSet<>();
      for (int index = 0; isSame && index < parts.size(); index++) {
        Manifest.Part part = parts.get(index);
        isSame =
            paths.add(part.path) && isSafe(part.path) && part.path.equals(manifest.stores.get(index).path)
                && part.entry.equals(entries.get(index + 1).getName());
      }
      if (!isSame) throw others;
      for (Manifest.Part part : parts) copy(isSealed ? opened : archive, part, null);
    } catch (IOException error) {
      throw new Refusal(Refusal.Code.ARCHIVE, "the archive is damaged: " + error.getMessage());
    }
  }

  /**
   * Opens a sealed archive whose size and digest are as described.
   *
   * <p>The opened archive has no name on the disk once it can be read.
   */
  private static ZipFile open(ZipFile archive, Json seal, String passphrase, Path file) throws Exception {
    // The digest first: a damaged archive must not look like a wrong passphrase.
    copy(archive,
        new Manifest.Part(SealedArchive.ENTRY, SealedArchive.ENTRY, null, seal.number("bytes"),
            seal.text("sha256"), null, null),
        null);
    Path plain = file.resolveSibling(file.getFileName() + ".opened");
    try {
      try (InputStream stream = archive.getInputStream(archive.getEntry(SealedArchive.ENTRY));
          OutputStream target = new java.io.BufferedOutputStream(Files.newOutputStream(plain))) {
        SealedArchive.open(stream, passphrase, target);
      }
      return new ZipFile(plain.toFile(), ZipFile.OPEN_READ | ZipFile.OPEN_DELETE);
    } finally {
      Files.deleteIfExists(plain);
    }
  }

  private static boolean isSafe(String path) {
    return !path.contains("\\") && !path.startsWith(".attache/")
        && Arrays.stream(path.split("/", -1)).noneMatch(part -> Arrays.asList("", ".", "..").contains(part));
  }

  private static byte[] read(ZipFile archive, ZipEntry entry) throws IOException {
    try (InputStream stream = archive.getInputStream(entry)) {
      byte[] bytes = stream.readNBytes(LONGEST);
      CRC32 crc = new CRC32();
      crc.update(bytes);
      if (crc.getValue() != entry.getCrc() || bytes.length != entry.getSize()) {
        throw new IOException(entry.getName());
      }
      return bytes;
    }
  }

  private static void copy(ZipFile archive, Manifest.Part part, OutputStream target) throws Exception {
    MessageDigest digest = MessageDigest.getInstance("SHA-256");
    long total = 0;
    try (InputStream stream = archive.getInputStream(archive.getEntry(part.entry))) {
      byte[] buffer = new byte[1 << 16];
      for (int count = stream.read(buffer); count >= 0; count = stream.read(buffer)) {
        total += count;
        if (total > part.bytes) break;
        digest.update(buffer, 0, count);
        if (target != null) target.write(buffer, 0, count);
      }
    }
    if (total != part.bytes || !hex(digest.digest()).equals(part.sha256)) {
      throw new Refusal(Refusal.Code.CONTENTS, part.entry + " has another size or digest");
    }
  }

  static String hex(byte[] bytes) {
    StringBuilder text = new StringBuilder();
    for (byte one : bytes) text.append(String.format("%02x", one));
    return text.toString();
  }

  /** Writes a part to a file; its digest is checked again. */
  void extract(Manifest.Part part, Path target) throws Exception {
    if (opened != null) {
      try (OutputStream stream = Disk.create(target)) {
        copy(opened, part, stream);
      }
      return;
    }
    try (ZipFile archive = new ZipFile(file.toFile());
        OutputStream stream = Disk.create(target)) {
      copy(archive, part, stream);
    }
  }

  /** The offer, as a decision sees it. */
  public Decision.Offered offered() {
    Decision.Offered offered = new Decision.Offered();
    offered.generation = manifest.generation;
    offered.created = manifest.created;
    offered.expires = manifest.expires;
    offered.includes = manifest.includes;
    if (isDelta) {
      offered.from = new LinkedHashMap<>();
      for (Manifest.Part part : parts) offered.from.put(part.path, part.from);
    }
    return offered;
  }
}
