package attache.kit;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The statements on one store. */
final class Store implements AutoCloseable {
  final String path;
  private final Database database;
  /** The table of each soup. */
  private final Map<String, String> tables = new LinkedHashMap<>();

  Store(String path, Database database) throws Exception {
    this.path = path;
    this.database = database;
    try {
      for (String[] row : database.query("SELECT soupName, id FROM soup_attrs ORDER BY id")) {
        tables.put(row[0], "TABLE_" + row[1]);
      }
      if (!database.query("SELECT 1 FROM long_operations_status").isEmpty()) {
        throw new Refusal(
            Refusal.Code.STORE, path + " was stopped during a change of indexes: open and close it");
      }
    } catch (Exception error) {
      database.close();
      throw error;
    }
  }

  @Override
  public void close() throws Exception {
    database.close();
  }

  private String table(String soup) throws Refusal {
    String table = tables.get(soup);
    if (table == null) throw new Refusal(Refusal.Code.STORE, path + " has no soup " + soup);
    return table;
  }

  /** The members of the stamp. */
  static final class Stamp {
    final String stampId;
    final long generation;
    final String install;
    final long handback;
    final boolean carried;

    private Stamp(String[] row) {
      stampId = row[0];
      generation = row[1] == null ? 0 : Long.parseLong(row[1]);
      install = row[2];
      handback = row[3] == null ? 0 : Long.parseLong(row[3]);
      carried = row[4] != null;
    }
  }

  private static String member(String name) {
    return "json_extract(soup, '$." + name + "')";
  }

  /** The stamp; null if the store was not issued by attache. */
  Stamp stamp() throws Exception {
    if (!tables.containsKey("attache_stamp")) return null;
    List<String[]> rows =
        database.query(
            "SELECT " + member("stampId") + ", " + member("generation") + ", " + member("install") + ", "
                + member("handback") + ", " + member("carried") + " FROM " + table("attache_stamp"));
    return rows.isEmpty() || rows.get(0)[0] == null ? null : new Stamp(rows.get(0));
  }

  /** Sets the two members of the stamp that belong to the app. */
  void mark(String install, long handback) throws Exception {
    database.execute(
        "UPDATE " + table("attache_stamp") + " SET soup = json_set(soup, '$.install', ?, '$.handback', "
            + handback + ")", install);
  }

  /** The condition of the rows with local changes, by soup. */
  private Map<String, String> dirty() throws Exception {
    Map<String, String> conditions = new LinkedHashMap<>();
    for (String soup : tables.keySet()) {
      if (soup.equals("attache_stamp") || soup.equals("syncs_soup")) continue;
      conditions.put(soup, member("__local__"));
    }
    for (String[] row :
        database.query(
            "SELECT soupName, columnName FROM soup_index_map "
                + "WHERE path = '__local__' AND columnType <> 'json1'")) {
      conditions.replace(row[0], row[1]);
    }
    conditions.replaceAll((soup, flag) -> "CAST(" + flag + " AS TEXT) NOT IN ('0', 'false', 'NO', '')");
    return conditions;
  }

  /** A line for each row with local changes. */
  List<String> changes() throws Exception {
    List<String> lines = new ArrayList<>();
    for (Map.Entry<String, String> soup : dirty().entrySet()) {
      String sql = "SELECT id, lastModified FROM " + table(soup.getKey()) + " WHERE " + soup.getValue();
      for (String[] row : database.query(sql + " ORDER BY id")) {
        lines.add(path + "\t" + soup.getKey() + "\t" + row[0] + "\t" + row[1]);
      }
    }
    return lines;
  }

  List<Reason> reasons() throws Exception {
    List<Reason> reasons = new ArrayList<>();
    for (Map.Entry<String, String> soup : dirty().entrySet()) {
      String sentence = member("__last_error__");
      for (String[] row :
          database.query(
              "SELECT id, " + member("Id") + ", " + sentence + ", " + member("__last_error_shown__") + " FROM "
                  + table(soup.getKey()) + " WHERE " + soup.getValue() + " AND " + sentence
                  + " <> '' ORDER BY id")) {
        reasons.add(new Reason(path, soup.getKey(), row));
      }
    }
    return reasons;
  }

  /** Copies the store, with what its log has, to a new file without the device's key. */
  void copy(Path file, String passphrase, int iterations) throws Exception {
    List<String[]> cipher = database.query("PRAGMA cipher_version");
    if (cipher.isEmpty() || cipher.get(0)[0] == null) {
      database.execute("VACUUM INTO " + quoted(file.toString()));
      return;
    }
    attach(file, "returned", passphrase);
    try {
      if (passphrase != null) database.query("PRAGMA returned.kdf_iter = " + iterations);
      database.query("SELECT sqlcipher_export('returned')");
    } finally {
      database.execute("DETACH DATABASE returned");
    }
  }

  private void attach(Path file, String name, String passphrase) throws Exception {
    database.execute(
        "ATTACH DATABASE " + quoted(file.toString()) + " AS " + name + " KEY "
            + quoted(passphrase == null ? "" : passphrase));
  }

  private static String quoted(String text) {
    return "'" + text.replace("'", "''") + "'";
  }

  /** Checks that the file is undamaged. */
  void check() throws Exception {
    if (!"ok".equals(database.query("PRAGMA quick_check(1)").get(0)[0])) {
      throw new Refusal(Refusal.Code.STORE, path + " is damaged");
    }
  }

  /** Called before each statement of a delta. */
  interface Step {
    void before() throws Exception;
  }

  /**
   * Applies a delta in one transaction, and marks the installation, by the statements of
   * docs/on-disk.md. A trial changes nothing.
   */
  void apply(Path delta, String passphrase, int iterations, String install, boolean isTrial, Step step)
      throws Exception {
    database.query("PRAGMA secure_delete = ON");
    if (passphrase != null) database.query("PRAGMA cipher_default_kdf_iter = " + iterations);
    attach(delta, "delta", passphrase);
    try {
      database.execute("BEGIN");
      try {
        List<String[]> soups =
            database.query("SELECT name, number, changed FROM delta.soups ORDER BY number");
        require(Delta.conditions(table("attache_stamp"), table("syncs_soup")));
        for (String[] soup : soups) {
          for (String sql : Delta.statements(soup[1], soup[2].equals("1"), words(soup[0]))) {
            step.before();
            database.execute(sql);
          }
        }
        for (String sql : Delta.SEQUENCES) {
          step.before();
          database.execute(sql);
        }
        for (String[] soup : soups) {
          if (!soup[0].equals("attache_stamp")) {
            require(List.of(Delta.result(soup[1], !words(soup[0]).isEmpty())));
          }
        }
        mark(install, 0);
        step.before();
        database.execute(isTrial ? "ROLLBACK" : "COMMIT");
      } catch (Exception error) {
        try {
          database.execute("ROLLBACK");
        } catch (Exception ended) {
          error.addSuppressed(ended);
        }
        throw error;
      }
    } finally {
      database.execute("DETACH DATABASE delta");
    }
  }

  private void require(List<String> conditions) throws Exception {
    for (String sql : conditions) {
      if (!"0".equals(database.query(sql).get(0)[0])) {
        throw new Refusal(Refusal.Code.DELTA, path + " is not the store that the delta is for");
      }
    }
  }

  /** The columns of a soup's full-text table, in order. */
  private List<String> words(String soup) throws Exception {
    List<String> columns = new ArrayList<>();
    for (String[] row :
        database.query(
            "SELECT column FROM delta.indexes WHERE soup = ? AND type = 'full_text' ORDER BY rowid", soup)) {
      columns.add(row[0]);
    }
    return columns;
  }
}
