import Crypto
import JSON
import SmartStore

/// An element as a value: devices write equal elements in different ways.
package enum ElementContent {
  /// The digest of the value; of the bytes when they are no JSON.
  package static func digest(of element: [UInt8]) -> String {
    // What is no JSON is compared as bytes.
    guard let value = try? JSONValue(parsing: element) else { return Digest.sha256Hex(element) }
    return digest(of: value)
  }

  /// The digest of an element that was read already.
  package static func digest(of value: JSONValue) -> String {
    Digest.sha256Hex(value.bytes(pretty: false, sortedKeys: true))
  }

  /// The digest of what the user entered: without what SmartStore itself and a sync that failed write
  /// into an element, so that it is the same when the same values were saved again, and without what the
  /// app says that it has shown.
  package static func value(of element: [UInt8]) -> String {
    guard var members = (try? JSONValue(parsing: element))?.object else {
      return Digest.sha256Hex(element)
    }
    for name in [
      StoreField.soupEntryID, StoreField.lastModified, SyncField.lastError,
      SyncField.lastErrorShown,
    ] {
      members[name] = nil
    }
    return Digest.sha256Hex(JSONValue.object(members).bytes(pretty: false, sortedKeys: true))
  }
}
