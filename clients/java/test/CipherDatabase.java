package attache.kit;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** SQLCipher's own build in another process: {@code Tests/Kits/cipher.py}. */
final class CipherDatabase implements Database {
  private final Process process;
  private final Writer input;
  private final BufferedReader output;

  /** A null key opens a plain file. */
  CipherDatabase(List<String> command, Path file, String key) throws Exception {
    List<String> words = new ArrayList<>(command);
    words.add(file.toString());
    process = new ProcessBuilder(words).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    input = new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8);
    output = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    if (key == null) return;
    query("PRAGMA key = '" + key.replace("'", "''") + "'");
    query("PRAGMA kdf_iter = 4000");
  }

  @Override
  public void execute(String sql, String... arguments) throws Exception {
    query(sql, arguments);
  }

  @Override
  public List<String[]> query(String sql, String... arguments) throws Exception {
    input.write(Json.write(List.of(sql, List.of(arguments))) + "\n");
    input.flush();
    String line = output.readLine();
    if (line == null) throw new IOException("SQLCipher has ended");
    Json answer = Json.parse(line);
    if (answer.find("error") != null) throw new Refusal(Refusal.Code.STORE, answer.text("error"));
    List<String[]> rows = new ArrayList<>();
    for (Json row : answer.get("rows").items()) {
      rows.add(row.items().stream().map(value -> (String) value.value).toArray(String[]::new));
    }
    return rows;
  }

  @Override
  public void close() throws Exception {
    input.close();
    process.waitFor();
  }
}
