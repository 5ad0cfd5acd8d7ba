/// Reads a table in text: each row is a line, and the next after `> `; comments start with `//`.
package func pairs(_ table: String) -> [(String, String)] {
  let lines = table.split(separator: "\n").filter { !$0.hasPrefix("//") }
  return stride(from: 0, to: lines.count - 1, by: 2).map {
    (String(lines[$0]), String(lines[$0 + 1].dropFirst(2)))
  }
}
