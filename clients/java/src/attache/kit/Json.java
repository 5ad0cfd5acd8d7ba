package attache.kit;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A JSON value: Android and Java have no reader in common. */
final class Json {
  /** A Map, a List, a String, a Long, a Double, a Boolean or null. */
  final Object value;
  /** The text of the value. */
  final String text;

  private Json(Object value, String text) {
    this.value = value;
    this.text = text;
  }

  static Json parse(String text) throws Refusal {
    Parser parser = new Parser(text);
    Json value = parser.value(0);
    if (parser.next() != 0) throw wrong();
    return value;
  }

  private static Refusal wrong() {
    return new Refusal(Refusal.Code.FORMAT, "a member is missing, or is not JSON");
  }

  @SuppressWarnings("unchecked")
  Map<String, Json> members() throws Refusal {
    if (!(value instanceof Map)) throw wrong();
    return (Map<String, Json>) value;
  }

  @SuppressWarnings("unchecked")
  List<Json> items() throws Refusal {
    if (!(value instanceof List)) throw wrong();
    return (List<Json>) value;
  }

  /** A member; null if it is missing or null. */
  Json find(String name) throws Refusal {
    Json member = members().get(name);
    return member == null || member.value == null ? null : member;
  }

  Json get(String name) throws Refusal {
    Json member = find(name);
    if (member == null) throw wrong();
    return member;
  }

  String text(String name) throws Refusal {
    Object found = get(name).value;
    if (!(found instanceof String)) throw wrong();
    return (String) found;
  }

  String optionalText(String name) throws Refusal {
    return find(name) == null ? null : text(name);
  }

  long number(String name) throws Refusal {
    Object found = get(name).value;
    if (!(found instanceof Long)) throw wrong();
    return (Long) found;
  }

  boolean flag(String name) throws Refusal {
    Json member = find(name);
    return member != null && Boolean.TRUE.equals(member.value);
  }

  Instant time(String name) throws Refusal {
    if (find(name) == null) return null;
    try {
      return Instant.parse(text(name));
    } catch (java.time.format.DateTimeParseException error) {
      throw wrong();
    }
  }

  /** The text of a value: a Map, a Collection, a String, a number, a Boolean or null. */
  static String write(Object value) {
    StringBuilder text = new StringBuilder();
    write(value, text);
    return text.toString();
  }

  private static void write(Object value, StringBuilder text) {
    String separator = "";
    if (value instanceof Map) {
      text.append('{');
      for (Map.Entry<?, ?> member : ((Map<?, ?>) value).entrySet()) {
        text.append(separator);
        write(member.getKey().toString(), text);
        text.append(": ");
        write(member.getValue(), text);
        separator = ", ";
      }
      text.append('}');
    } else if (value instanceof Collection) {
      text.append('[');
      for (Object item : (Collection<?>) value) {
        text.append(separator);
        write(item, text);
        separator = ", ";
      }
      text.append(']');
    } else if (value instanceof Number || value instanceof Boolean || value == null) {
      text.append(value);
    } else {
      text.append('"');
      for (char one : value.toString().toCharArray()) {
        if (one == '"' || one == '\\') text.append('\\').append(one);
        else if (one < 0x20) text.append(String.format("\\u%04x", (int) one));
        else text.append(one);
      }
      text.append('"');
    }
  }

  private static final class Parser {
    private final String text;
    private int place;

    Parser(String text) {
      this.text = text;
    }

    /** The next character that is not white space; 0 at the end. */
    char next() {
      while (place < text.length() && " \t\r\n".indexOf(text.charAt(place)) >= 0) place++;
      return place < text.length() ? text.charAt(place) : 0;
    }

    private boolean take(char wanted) {
      if (next() != wanted) return false;
      place++;
      return true;
    }

    Json value(int depth) throws Refusal {
      if (depth > 64) throw wrong();
      char first = next();
      int start = place;
      Object value;
      if (take('{')) {
        Map<String, Json> members = new LinkedHashMap<>();
        while (!take('}')) {
          if (!members.isEmpty() && !take(',')) throw wrong();
          if (next() != '"') throw wrong();
          String name = string();
          if (!take(':') || members.put(name, value(depth + 1)) != null) throw wrong();
        }
        value = members;
      } else if (take('[')) {
        List<Json> items = new ArrayList<>();
        while (!take(']')) {
          if (!items.isEmpty() && !take(',')) throw wrong();
          items.add(value(depth + 1));
        }
        value = items;
      } else if (first == '"') {
        value = string();
      } else {
        while (place < text.length() && ",]} \t\r\n".indexOf(text.charAt(place)) < 0) place++;
        String word = text.substring(start, place);
        if (word.equals("null")) value = null;
        else if (word.equals("true") || word.equals("false")) value = word.equals("true");
        else value = number(word);
      }
      return new Json(value, text.substring(start, place));
    }

    private static Object number(String word) throws Refusal {
      try {
        if (word.matches("-?[0-9]+")) return Long.valueOf(word);
        if (word.matches("-?[0-9][0-9.eE+-]*")) return Double.valueOf(word);
      } catch (NumberFormatException error) {
        throw wrong();
      }
      throw wrong();
    }

    private String string() throws Refusal {
      StringBuilder string = new StringBuilder();
      place++;
      while (true) {
        char one = at();
        if (one == '"') return string.toString();
        if (one != '\\') {
          string.append(one);
          continue;
        }
        char escaped = at();
        int known = "bfnrt\"\\/".indexOf(escaped);
        if (known >= 0) {
          string.append("\b\f\n\r\t\"\\/".charAt(known));
        } else if (escaped == 'u' && place + 4 <= text.length()) {
          try {
            string.append((char) Integer.parseInt(text.substring(place, place + 4), 16));
          } catch (NumberFormatException error) {
            throw wrong();
          }
          place += 4;
        } else {
          throw wrong();
        }
      }
    }

    private char at() throws Refusal {
      if (place >= text.length()) throw wrong();
      return text.charAt(place++);
    }
  }
}
