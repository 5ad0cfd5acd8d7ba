/// The path at which an app built on the SDK expects a store, relative to its directory.
public struct StoreLocation: Sendable, Hashable {
  /// The name for the SDKs' default store, which has a different name on each platform.
  public static let defaultStoreName = "default"

  /// A user, with the 18-character IDs that the SDKs use.
  public struct User: Sendable, Hashable {
    /// The org's ID.
    public var organizationID: String
    /// The user's ID.
    public var userID: String

    /// Creates a user from 18-character IDs.
    public init(organizationID: String, userID: String) {
      self.organizationID = organizationID
      self.userID = userID
    }
  }

  /// The platform whose layout the store has.
  public var platform: Platform
  /// The store's name; `default` for the one that an app opens without a name.
  public var storeName: String
  /// The user whose store it is; nil for a global one.
  public var user: User?

  /// Creates the location of a user's store, or of a global one.
  public init(_ platform: Platform, storeName: String = defaultStoreName, user: User? = nil) {
    self.platform = platform
    self.storeName = storeName
    self.user = user
  }

  /// The store's name on its platform.
  public var platformName: String {
    guard storeName == Self.defaultStoreName else { return storeName }
    return switch platform {
    case .ios: "defaultStore"
    case .android: "smartstore"
    }
  }

  /// The path: on iOS relative to `Documents/<bundle id>/`, on Android relative to the app's data
  /// directory.
  ///
  /// The community is `internal`, as for all users of the org itself.
  public var path: String {
    let name = platformName
    switch (platform, user) {
    case (.ios, let user?):
      let parts = [user.organizationID, user.userID, "internal", "stores", name]
      return parts.map(Self.pathPart).joined(separator: "/") + "/store.sqlite"
    case (.ios, nil): return "stores/\(Self.pathPart(name))/store.sqlite"
    case (.android, let user?):
      return "databases/\(name)_\(user.organizationID)_\(user.userID)_internal.db"
    case (.android, nil): return "databases/\(name).db"
    }
  }

  /// A component of an iOS path: the SDK replaces problematic characters with `_`.
  package static func pathPart(_ text: String) -> String {
    String(text.map { "/\\?%*|\"<>:@".contains($0) ? "_" : $0 })
  }
}
