import Crypto
import JSON
import SmartStore

/// An element as a value, because devices write equal elements in different ways.
package enum ElementContent {
  /// The digest of the value, or of the bytes if they are not JSON.
  package static func digest(of element: [UInt8]) -> String {
    // Content that is not JSON is compared as bytes.
    guard let value = try? JSONValue(parsing: element) else { return Digest.sha256Hex(element) }
    return digest(of: value)
  }

  /// The digest of a parsed element.
  package static func digest(of value: JSONValue) -> String {
    Digest.sha256Hex(value.bytes(pretty: false, sortedKeys: true))
  }

  /// The digest of what the user entered.
  ///
  /// It leaves out what SmartStore and a failed sync write into an element, and what the app says
  /// that it has shown, so that it is the same when the same values are saved again.
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
