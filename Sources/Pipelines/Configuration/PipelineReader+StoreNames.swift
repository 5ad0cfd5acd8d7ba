import Archive
import Bundles
import JSON
import SmartStore

extension PipelineReader {
  /// Reports a store name that a platform would change, or whose store could not be packed.
  func check(
    storeName: String, _ scope: StoreScope, _ platforms: [Platform], _ node: JSONNode
  ) {
    let message = "\(JSONText.quoted(storeName)) is not a valid file name on every device"
    if StoreLocation.pathPart(storeName) != storeName || storeName.hasPrefix(".") {
      return reader.report(node, message, "use letters, digits, - and _")
    }
    // Every ID has 18 characters.
    let id = String(repeating: "0", count: 18)
    let user = scope == .user ? StoreLocation.User(organizationID: id, userID: id) : nil
    for platform in platforms {
      let path = StoreLocation(platform, storeName: storeName, user: user).path
      guard let reason = BundleWriter.refusal(ofStorePath: path) else { continue }
      return reader.report(
        node,
        "\(message): on \(platform.rawValue) the path of the store's journal "
          + reason,
        "use a shorter name of letters, digits, - and _")
    }
  }

  /// Reports two stores that have the same name, or get the same name on a platform.
  func report(
    _ store: StoreSettings, _ node: JSONNode, twinOf stores: [StoreSettings], _ lines: [Int],
    _ platforms: [Platform]
  ) {
    for (other, line) in zip(stores, lines) where other.scope == store.scope {
      let fix = "use another \"storeName\" than the one on line \(line)"
      let name = JSONText.quoted(store.storeName)
      if other.storeName == store.storeName {
        return reader.report(
          node, "two stores of scope \(store.scope.rawValue) are named \(name)", fix)
      }
      let shared = platforms.first {
        StoreLocation($0, storeName: other.storeName).platformName
          == StoreLocation($0, storeName: store.storeName).platformName
      }
      guard let shared else {
        guard ArchiveWriter.areOne(other.storeName, store.storeName) else { continue }
        return reader.report(
          node,
          "the stores \(JSONText.quoted(other.storeName)) and \(name) are one file on a device whose file names "
            + "are not case-sensitive", fix)
      }
      return reader.report(
        node,
        "on \(shared.rawValue) the stores \(JSONText.quoted(other.storeName)) and \(name) are one "
          + "file: the SDK's default store is named "
          + JSONText.quoted(StoreLocation(shared).platformName) + " there", fix)
    }
  }
}
