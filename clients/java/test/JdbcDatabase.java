package attache.kit;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** A database over JDBC. */
public final class JdbcDatabase implements Database {
  private final Connection connection;

  public JdbcDatabase(Path file) throws SQLException {
    connection = DriverManager.getConnection("jdbc:sqlite:" + file);
  }

  @Override
  public void execute(String sql, String... arguments) throws SQLException {
    try (PreparedStatement statement = bound(sql, arguments)) {
      statement.execute();
    }
  }

  @Override
  public List<String[]> query(String sql, String... arguments) throws SQLException {
    List<String[]> rows = new ArrayList<>();
    try (PreparedStatement statement = bound(sql, arguments)) {
      if (!statement.execute()) return rows;
      try (ResultSet found = statement.getResultSet()) {
        int columns = found.getMetaData().getColumnCount();
        while (found.next()) {
          String[] row = new String[columns];
          for (int column = 0; column < columns; column++) row[column] = found.getString(column + 1);
          rows.add(row);
        }
      }
    }
    return rows;
  }

  private PreparedStatement bound(String sql, String[] arguments) throws SQLException {
    PreparedStatement statement = connection.prepareStatement(sql);
    for (int index = 0; index < arguments.length; index++) statement.setString(index + 1, arguments[index]);
    return statement;
  }

  @Override
  public void close() throws SQLException {
    connection.close();
  }
}
