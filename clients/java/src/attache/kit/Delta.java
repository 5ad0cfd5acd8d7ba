package attache.kit;

import java.util.ArrayList;
import java.util.List;

/** The statements by which a device applies a delta, as docs/on-disk.md lists them. */
final class Delta {
  private Delta() {}

  static final List<String> SEQUENCES =
      List.of(
          "DELETE FROM main.sqlite_sequence WHERE name IN (SELECT 'TABLE_' || number FROM delta.soups)",
          "INSERT INTO main.sqlite_sequence (name, seq) "
              + "SELECT 'TABLE_' || number, now FROM delta.soups WHERE now IS NOT NULL");

  /** The queries that must return 0 before the store is changed. */
  static List<String> conditions(String stamp, String syncs) {
    return List.of(
        "SELECT count(*) FROM (SELECT name, number FROM delta.soups "
            + "EXCEPT SELECT soupName, id FROM main.soup_attrs)",
        "SELECT count(*) FROM (SELECT * FROM delta.indexes "
            + "EXCEPT SELECT soupName, path, columnName, columnType FROM main.soup_index_map)",
        "SELECT count(*) - (SELECT count(*) FROM delta.indexes) FROM main.soup_index_map "
            + "WHERE soupName IN (SELECT name FROM delta.soups)",
        "SELECT count(*) FROM main.long_operations_status",
        "SELECT count(*) <> 1 OR max(json_extract(soup, '$.stampId')) IS NOT "
            + "(SELECT was FROM delta.stamp) FROM main." + stamp,
        "SELECT count(*) FROM (SELECT id, maxTimeStamp FROM delta.syncs "
            + "EXCEPT SELECT id, json_extract(soup, '$.maxTimeStamp') FROM main." + syncs + ")");
  }

  /** The statements that change a soup; {@code words} are the columns of its full-text table. */
  static List<String> statements(String number, boolean isChanged, List<String> words) {
    String table = "TABLE_" + number;
    String was = "(SELECT was FROM delta.soups WHERE number = " + number + ")";
    String gone = "(SELECT id FROM delta.gone WHERE soup = " + number + ")";
    List<String> statements = new ArrayList<>();
    if (!words.isEmpty()) {
      statements.add("DELETE FROM main." + table + "_fts WHERE rowid > " + was);
      statements.add("DELETE FROM main." + table + "_fts WHERE rowid IN " + gone);
      if (isChanged) {
        statements.add(
            "DELETE FROM main." + table + "_fts WHERE rowid IN (SELECT id FROM delta.r_" + table + "_fts)");
      }
    }
    statements.add("DELETE FROM main." + table + " WHERE id > " + was);
    statements.add("DELETE FROM main." + table + " WHERE id IN " + gone);
    if (isChanged) {
      statements.add("INSERT OR REPLACE INTO main." + table + " SELECT * FROM delta.r_" + table);
      if (!words.isEmpty()) {
        statements.add(
            "INSERT INTO main." + table + "_fts (rowid, " + String.join(", ", words)
                + ") SELECT * FROM delta.r_" + table + "_fts");
      }
    }
    return statements;
  }

  /** The query that must return 0 after the soup was changed. */
  static String result(String number, boolean hasWords) {
    String words = hasWords ? "(SELECT count(*) FROM main.TABLE_" + number + "_fts_docsize)" : "0";
    return "SELECT count(*) FROM (SELECT rows, dates, words FROM delta.soups WHERE number = " + number
        + " EXCEPT SELECT count(*), coalesce(sum(lastModified % 1000000007 * (id % 997 + 1)), 0), " + words
        + " FROM main.TABLE_" + number + ")";
  }
}
