package attache.kit;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Base64;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Opens the sealed archive of a bundle or a delta: AES-256-GCM in chunks of 1 MiB, as
 * docs/on-disk.md describes it.
 */
final class SealedArchive {
  static final String ENTRY = "content.sealed";
  private static final int CHUNK = 1 << 20;
  private static final int TAG = 16;
  private static final byte[] MAGIC = "ATTSEAL1".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] INFO = "attache-archive 1".getBytes(StandardCharsets.US_ASCII);

  private SealedArchive() {}

  /** Writes the opened archive; {@code passphrase} is the base64 of 32 bytes. */
  static void open(InputStream sealed, String passphrase, OutputStream target)
      throws IOException, GeneralSecurityException, Refusal {
    byte[] magic = sealed.readNBytes(MAGIC.length);
    byte[] salt = sealed.readNBytes(32);
    byte[] check = sealed.readNBytes(16);
    if (!Arrays.equals(magic, MAGIC)) {
      throw new Refusal(Refusal.Code.FORMAT, "the sealed archive needs a newer app");
    }
    byte[] derived = derive(secret(passphrase), salt);
    if (!MessageDigest.isEqual(check, Arrays.copyOfRange(derived, 32, 48))) {
      throw new Refusal(Refusal.Code.SEAL, "the bundle is sealed with another passphrase");
    }
    SecretKeySpec key = new SecretKeySpec(derived, 0, 32, "AES");
    byte[] chunk = sealed.readNBytes(CHUNK + TAG);
    for (long number = 0; ; number++) {
      // A chunk is the last one unless another byte follows.
      byte[] next = chunk.length < CHUNK + TAG ? new byte[0] : sealed.readNBytes(CHUNK + TAG);
      boolean isLast = next.length == 0;
      if (chunk.length < TAG || (chunk.length == TAG && number > 0)) throw damaged(number);
      byte[] nonce = ByteBuffer.allocate(12).putInt(3, (int) (number >> 32)).putInt(7, (int) number)
          .put(11, (byte) (isLast ? 1 : 0)).array();
      Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
      cipher.init(Cipher.DECRYPT_MODE, key, new GCMParameterSpec(8 * TAG, nonce));
      byte[] plain;
      try {
        plain = cipher.doFinal(chunk);
      } catch (GeneralSecurityException error) {
        throw damaged(number);
      }
      target.write(plain, 0, plain.length);
      if (isLast) return;
      chunk = next;
    }
  }

  private static Refusal damaged(long number) {
    return new Refusal(
        Refusal.Code.CONTENTS, "the sealed archive is truncated or damaged in chunk " + (number + 1));
  }

  private static byte[] secret(String passphrase) throws Refusal {
    try {
      byte[] secret = Base64.getDecoder().decode(passphrase == null ? "" : passphrase);
      if (secret.length == 32) return secret;
    } catch (IllegalArgumentException error) {
      // Below.
    }
    throw new Refusal(
        Refusal.Code.SEAL, "the bundle is sealed, and the passphrase is not base64 of 32 bytes");
  }

  /** HKDF with HMAC-SHA-256 (RFC 5869): 48 of 64 bytes are used. */
  private static byte[] derive(byte[] secret, byte[] salt) throws GeneralSecurityException {
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(salt.length == 0 ? new byte[1] : salt, "HmacSHA256"));
    byte[] extracted = mac.doFinal(secret);
    mac.init(new SecretKeySpec(extracted, "HmacSHA256"));
    mac.update(INFO);
    byte[] first = mac.doFinal(new byte[] {1});
    mac.update(first);
    mac.update(INFO);
    byte[] second = mac.doFinal(new byte[] {2});
    return ByteBuffer.allocate(64).put(first).put(second).array();
  }
}
