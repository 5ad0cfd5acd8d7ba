import SmartStore

/// Where the stores of a bundle stand: the paths at which an app built on the SDK looks for them,
/// below the directory of the app.
package enum BundleLayout {
  /// What a pipeline file calls each platform's own default.
  package static let defaultStoreName = "default"

  /// The name that a store has on a platform.
  package static func storeName(_ name: String, on platform: Platform) -> String {
    guard name == defaultStoreName else { return name }
    return switch platform {
    case .ios: "defaultStore"
    case .android: "smartstore"
    }
  }

  /// The path of a store in a bundle and in a generation's directory of that platform.
  ///
  /// iOS: below `Documents/<bundle id>/`; Android: below the app's data directory. The community is
  /// `internal`, as for all users of the org itself.
  package static func path(
    platform: Platform, scope: StoreScope, storeName: String, org: String, user: String
  ) -> String {
    let name = self.storeName(storeName, on: platform)
    switch (platform, scope) {
    case (.ios, .user):
      return "\(part(org))/\(part(user))/internal/stores/\(part(name))/store.sqlite"
    case (.ios, .global):
      return "stores/\(part(name))/store.sqlite"
    case (.android, .user):
      return "databases/\(name)_\(org)_\(user)_internal.db"
    case (.android, .global):
      return "databases/\(name).db"
    }
  }

  /// A part of an iOS path: the SDK writes `_` for what it takes for trouble.
  private static func part(_ text: String) -> String {
    String(text.map { "/\\?%*|\"<>:@".contains($0) ? "_" : $0 })
  }
}
