package attache.kit;

/** An open edit that a bundle brought back. */
public final class Reason {
  public final String store;
  public final String soup;
  public final long entryId;
  /** The ID of the record; a local one if the device created it. */
  public final String recordId;
  /** {@code __last_error__}: show it to the user. */
  public final String sentence;
  /** Whether the app has recorded in {@code __last_error_shown__} that it showed this sentence. */
  public final boolean isShown;

  Reason(String store, String soup, String[] row) {
    this.store = store;
    this.soup = soup;
    entryId = Long.parseLong(row[0]);
    recordId = row[1];
    sentence = row[2];
    isShown = row[2].equals(row[3]);
  }
}
