package attache.kit;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The kit for another program: each line of the input is a call, {@code [VERB, ROOT, ARGUMENT...]}, and
 * each line of the output its value, or its error. The histories of {@code make soak} play phones with it.
 */
final class KitLine {
  private final Attache kit;
  private Attache.Return returned;

  private KitLine(Path root, List<Json> words) throws Exception {
    kit =
        new Attache(root, new Owner((String) words.get(2).value, (String) words.get(3).value, "history"),
            Trust.keys((String) words.get(4).value), (file, form) -> new JdbcDatabase(file));
    kit.resume();
  }

  public static void main(String[] none) throws Exception {
    Map<String, KitLine> kits = new HashMap<>();
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      Map<String, Object> answer = new HashMap<>();
      try {
        List<Json> words = Json.parse(line).items();
        String root = (String) words.get(1).value;
        if (words.get(0).value.equals("open")) kits.put(root, new KitLine(Path.of(root), words));
        else answer.put("value", kits.get(root).call(words));
      } catch (Exception error) {
        answer.put("error", error.toString());
      }
      System.out.println(Json.write(answer));
    }
  }

  private Object call(List<Json> words) throws Exception {
    switch ((String) words.get(0).value) {
      case "sync":
        return sync(now(words), (String) words.get(3).value, (String) words.get(4).value);
      case "changes":
        return kit.hasChanges();
      case "return":
        returned = kit.prepareReturn(Path.of((String) words.get(3).value), now(words));
        return null;
      default:
        kit.delivered(returned);
        return null;
    }
  }

  private static Instant now(List<Json> words) {
    return Instant.ofEpochMilli((Long) words.get(2).value);
  }

  private String sync(Instant now, String bundle, String delta) throws Exception {
    Offer offer = kit.verify(Path.of(bundle));
    Offer small = null;
    try {
      if (delta != null) small = kit.verify(Path.of(delta));
    } catch (Refusal refusal) {
      // A delta for other stores is refused at once.
    }
    Decision decision = small == null ? kit.decide(now, offer) : kit.decide(now, offer, small);
    switch (decision.action) {
      case INSTALL:
        kit.install(offer, () -> {}, now);
        return "install";
      case DELTA:
        try {
          kit.install(small, () -> {}, now);
          return "delta";
        } catch (Refusal refusal) {
          if (refusal.code != Refusal.Code.DELTA) throw refusal;
          kit.install(offer, () -> {}, now);
          return "refusedDelta";
        }
      case RETURN:
        return "return";
      default:
        return "wait";
    }
  }
}
