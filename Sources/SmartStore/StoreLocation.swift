/// Where an app built on the SDK looks for a store, below its own directory.
public struct StoreLocation: Sendable, Hashable {
  /// What the SDKs' own default store is called here, whatever the platform calls it.
  public static let defaultStoreName = "default"

  /// A user, by the ids that the SDKs take: of 18 characters.
  public struct User: Sendable, Hashable {
    /// The org's id.
    public var organizationID: String
    /// The user's id.
    public var userID: String

    /// A user of an org.
    public init(organizationID: String, userID: String) {
      self.organizationID = organizationID
      self.userID = userID
    }
  }

  /// The platform whose layout the store has.
  public var platform: Platform
  /// The store's name; `default` for the one that an app opens without a name.
  public var storeName: String
  /// Whose the store is; nil for a global one.
  public var user: User?

  /// A store of a user, or a global one.
  public init(_ platform: Platform, storeName: String = defaultStoreName, user: User? = nil) {
    self.platform = platform
    self.storeName = storeName
    self.user = user
  }

  /// The name that the store has on its platform.
  public var platformName: String {
    guard storeName == Self.defaultStoreName else { return storeName }
    return switch platform {
    case .ios: "defaultStore"
    case .android: "smartstore"
    }
  }

  /// The path: on iOS below `Documents/<bundle id>/`, on Android below the app's data directory.
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

  /// A part of an iOS path: the SDK writes `_` for what it takes for trouble.
  package static func pathPart(_ text: String) -> String {
    String(text.map { "/\\?%*|\"<>:@".contains($0) ? "_" : $0 })
  }
}
