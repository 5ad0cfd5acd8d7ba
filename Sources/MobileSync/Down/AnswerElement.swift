import JSON

/// An answer of the org that becomes one element: its own bytes, and an id.
package enum AnswerElement {
  /// The path of the id.
  static let idPath = "Id"

  /// An array of the one element that an object becomes with an id.
  package static func bytes(_ object: [UInt8], id: String) -> [UInt8] {
    var bytes: [UInt8] = [UInt8(ascii: "[")]
    bytes.reserveCapacity(object.count + id.utf8.count + 12)
    let end = object.lastIndex(of: UInt8(ascii: "}")) ?? object.count
    bytes += object[..<end]
    let start = object.firstIndex(of: UInt8(ascii: "{")).map { $0 + 1 } ?? 0
    let isEmpty = object[min(start, end)..<end].allSatisfy { $0 <= 0x20 }
    bytes += Array((isEmpty ? "" : ",").utf8)
    bytes += Array("\"\(idPath)\":\(JSONText.quoted(id))}]".utf8)
    return bytes
  }
}
