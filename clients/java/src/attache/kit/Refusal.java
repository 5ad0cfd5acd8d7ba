package attache.kit;

/** The reason for which a bundle, a delta or a call is refused. */
public final class Refusal extends Exception {
  /** What is refused. */
  public enum Code {
    // A bundle or a delta is refused.
    SIGNATURE, KEY, NAMESPACE, ARCHIVE, FORMAT, ORG, USER, PIPELINE, PLATFORM, CONTENTS,
    /** The passphrase does not open a sealed bundle or delta. */
    SEAL,
    /** The decision does not allow the installation. */
    NOT_ALLOWED,
    /** The stores are not the ones that a delta is for: install the bundle. */
    DELTA,
    /** A store is missing, damaged, or was stopped while the SDK changed its indexes. */
    STORE
  }

  /** What is refused. */
  public final Code code;

  Refusal(Code code, String message) {
    super(message);
    this.code = code;
  }
}
