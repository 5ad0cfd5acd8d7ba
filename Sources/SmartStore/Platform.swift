/// The mobile platform whose SDK reads a store.
///
/// The two layouts differ in important details.
public enum Platform: String, Sendable, Hashable, CaseIterable {
  /// The layout of the iOS SDK.
  case ios
  /// The layout of the Android SDK.
  case android

  /// The schema version that the SDK expects in `PRAGMA user_version`.
  package var userVersion: Int64 { self == .android ? 3 : 0 }
}
