/// The one line of a terminal that is rewritten in place.
package enum StatusLine {
  /// Shortens a text to a number of columns: to whole parts between commas and semicolons or, if
  /// not even one fits, to whole words.
  package static func cut(_ text: String, columns: Int) -> String {
    guard text.count > columns else { return text }
    let room = text.prefix(max(0, columns))
    // A part that ends exactly at the edge is whole.
    let next = text.dropFirst(room.count).first
    if next == "," || next == ";" { return String(room) }
    let end =
      room.lastIndex { $0 == "," || $0 == ";" } ?? room.lastIndex(of: " ") ?? room.endIndex
    return String(room[..<end])
  }
}
