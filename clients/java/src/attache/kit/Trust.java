package attache.kit;

import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.MessageDigest;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.X509EncodedKeySpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;

/**
 * The public keys that an app has built in, and what they sign.
 *
 * <p>Build in two keys from the start, so that the pipeline can change its key without waiting for
 * an update of the app. Prefer P-256: Ed25519 is missing on many phones.
 */
public final class Trust {
  private static final String P256 = "ecdsa-sha2-nistp256";
  private static final String ED25519 = "ssh-ed25519";
  private static final String HEADER = "-----BEGIN SSH SIGNATURE-----\n";
  private static final String FOOTER = "-----END SSH SIGNATURE-----\n";

  private final byte[][] keys;
  private final String namespace;

  private Trust(String namespace, List<String> lines) throws Refusal {
    this.namespace = namespace;
    keys = new byte[lines.size()][];
    for (int index = 0; index < keys.length; index++) {
      String[] words = lines.get(index).split(" ");
      try {
        keys[index] = Base64.getDecoder().decode(words[1]);
        if (!key(keys[index]).name.equals(words[0])) throw new IllegalArgumentException();
      } catch (RuntimeException error) {
        throw new Refusal(
            Refusal.Code.KEY, lines.get(index) + " is not a public key of P-256 or Ed25519");
      }
    }
  }

  /** Trusts keys: lines as {@code attache key make} prints them first. */
  public static Trust keys(String... lines) throws Refusal {
    return new Trust("attache-manifest", Arrays.asList(lines));
  }

  /** The same keys, for the namespace of {@code pack.sign.namespace}. */
  public static Trust inNamespace(String namespace, String... lines) throws Refusal {
    return new Trust(namespace, Arrays.asList(lines));
  }

  /** Checks that a signature file has a valid signature of the document by one of the keys. */
  public void verify(byte[] document, byte[] signature) throws Refusal {
    try {
      Strings outer = new Strings(unarmored(signature));
      if (!Arrays.equals(outer.take(10), "SSHSIG\0\0\0\1".getBytes(StandardCharsets.UTF_8))) {
        throw new IllegalArgumentException();
      }
      byte[] wire = outer.string();
      Key key = key(wire);
      String found = outer.text();
      if (outer.string().length > 0 || !outer.text().equals("sha512")) {
        throw new IllegalArgumentException();
      }
      Strings inner = new Strings(outer.string());
      if (!outer.isAtEnd() || !inner.text().equals(key.name)) throw new IllegalArgumentException();
      byte[] raw = inner.string();
      if (!inner.isAtEnd()) throw new IllegalArgumentException();
      if (Arrays.stream(keys).noneMatch(own -> Arrays.equals(own, wire))) {
        throw new Refusal(Refusal.Code.KEY, "the signature is by a key that the app does not have");
      }
      if (!found.equals(namespace)) {
        throw new Refusal(Refusal.Code.NAMESPACE, "the signature is for \"" + found + "\"");
      }
      if (!key.isValid(raw, message(document, found))) {
        throw new Refusal(Refusal.Code.SIGNATURE, "the signature does not match");
      }
    } catch (RuntimeException error) {
      throw new Refusal(Refusal.Code.SIGNATURE, "the signature cannot be read");
    } catch (GeneralSecurityException error) {
      throw new Refusal(Refusal.Code.SIGNATURE, "this device cannot verify it: " + error);
    }
  }

  private static byte[] unarmored(byte[] armored) {
    String text = new String(armored, StandardCharsets.ISO_8859_1);
    if (!text.startsWith(HEADER) || !text.endsWith(FOOTER)) throw new IllegalArgumentException();
    String body = text.substring(HEADER.length(), text.length() - FOOTER.length());
    byte[] bytes = Base64.getDecoder().decode(body.replace("\n", ""));
    // Another spelling of the same bytes is refused.
    String again = Base64.getEncoder().encodeToString(bytes).replaceAll("(.{70})(?!$)", "$1\n");
    if (!body.equals(again + "\n")) throw new IllegalArgumentException();
    return bytes;
  }

  private static byte[] message(byte[] document, String namespace) throws GeneralSecurityException {
    byte[] name = namespace.getBytes(StandardCharsets.UTF_8);
    byte[] digest = MessageDigest.getInstance("SHA-512").digest(document);
    ByteBuffer message = ByteBuffer.allocate(6 + 16 + name.length + 6 + digest.length);
    message.put("SSHSIG".getBytes(StandardCharsets.UTF_8));
    message.putInt(name.length).put(name).putInt(0);
    message.putInt(6).put("sha512".getBytes(StandardCharsets.UTF_8));
    return message.putInt(digest.length).put(digest).array();
  }

  private static Key key(byte[] wire) {
    Strings strings = new Strings(wire);
    String name = strings.text();
    boolean isP256 = name.equals(P256);
    if (!isP256 && !name.equals(ED25519)) throw new IllegalArgumentException();
    if (isP256 && !strings.text().equals("nistp256")) throw new IllegalArgumentException();
    byte[] raw = strings.string();
    if (raw.length != (isP256 ? 65 : 32) || !strings.isAtEnd()) throw new IllegalArgumentException();
    return new Key(name, raw);
  }

  private static final class Key {
    final String name;
    private final byte[] raw;

    Key(String name, byte[] raw) {
      this.name = name;
      this.raw = raw;
    }

    boolean isValid(byte[] signature, byte[] message) throws GeneralSecurityException {
      boolean isP256 = name.equals(P256);
      // The key as SubjectPublicKeyInfo.
      String prefix =
          isP256
              ? "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgA="
              : "MCowBQYDK2VwAyEA";
      byte[] start = Base64.getDecoder().decode(prefix);
      byte[] der = Arrays.copyOf(start, start.length + raw.length);
      System.arraycopy(raw, 0, der, start.length, raw.length);
      PublicKey key =
          KeyFactory.getInstance(isP256 ? "EC" : "Ed25519").generatePublic(new X509EncodedKeySpec(der));
      Signature verifier = Signature.getInstance(isP256 ? "SHA256withECDSA" : "Ed25519");
      verifier.initVerify(key);
      verifier.update(message);
      return verifier.verify(isP256 ? der(signature) : signature);
    }

    /** The two numbers of an ECDSA signature as a DER sequence. */
    private static byte[] der(byte[] signature) {
      Strings numbers = new Strings(signature);
      byte[] r = number(numbers.string());
      byte[] s = number(numbers.string());
      if (!numbers.isAtEnd()) throw new IllegalArgumentException();
      ByteBuffer der = ByteBuffer.allocate(6 + r.length + s.length);
      der.put((byte) 0x30).put((byte) (4 + r.length + s.length));
      der.put((byte) 2).put((byte) r.length).put(r).put((byte) 2).put((byte) s.length).put(s);
      return der.array();
    }

    /** A positive number of at most 256 bits, spelled with the fewest bytes. */
    private static byte[] number(byte[] bytes) {
      BigInteger number = new BigInteger(bytes);
      if (number.signum() <= 0 || number.bitLength() > 256 || !Arrays.equals(number.toByteArray(), bytes)) {
        throw new IllegalArgumentException();
      }
      return bytes;
    }
  }

  /** SSH's strings: a length of four bytes, then as many bytes. */
  private static final class Strings {
    private final ByteBuffer rest;

    Strings(byte[] bytes) {
      rest = ByteBuffer.wrap(bytes);
    }

    byte[] take(int count) {
      if (count < 0 || count > rest.remaining()) throw new IllegalArgumentException();
      byte[] bytes = new byte[count];
      rest.get(bytes);
      return bytes;
    }

    byte[] string() {
      return take(rest.getInt());
    }

    String text() {
      return new String(string(), StandardCharsets.ISO_8859_1);
    }

    boolean isAtEnd() {
      return !rest.hasRemaining();
    }
  }
}
