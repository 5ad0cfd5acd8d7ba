import JSON

/// A response of the org that becomes one element: the response's bytes and an ID.
package enum AnswerElement {
  static let idPath = "Id"

  /// Returns an array with one element: the object with its ID added.
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
