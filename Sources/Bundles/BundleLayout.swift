import SmartStore

/// Where the stores of a bundle stand: the paths at which an app built on the SDK looks for them,
/// below the directory of the app.
package enum BundleLayout {
  /// What a pipeline file calls each platform's own default.
  package static let defaultStoreName = StoreLocation.defaultStoreName

  /// The name that a store has on a platform.
  package static func storeName(_ name: String, on platform: Platform) -> String {
    StoreLocation(platform, storeName: name).platformName
  }

  /// The path of a store in a bundle and in a generation's directory of that platform.
  package static func path(
    platform: Platform, scope: StoreScope, storeName: String, org: String, user: String
  ) -> String {
    let owner = scope == .user ? StoreLocation.User(organizationID: org, userID: user) : nil
    return StoreLocation(platform, storeName: storeName, user: owner).path
  }
}
