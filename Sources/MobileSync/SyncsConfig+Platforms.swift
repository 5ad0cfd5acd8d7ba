import JSON
import SmartStore

extension SyncsConfig {
  /// Reports what the SDK of one of the platforms would interpret differently.
  package func check(for platforms: [Platform], _ reader: ConfigurationReader) {
    for sync in syncs {
      guard let target = definitions[sync.syncName]?["target"] else { continue }
      if sync.syncType == .syncUp { checkClasses(target, platforms, reader) }
      guard let layout = sync.target.of(LayoutTarget.self), layout.mode == nil,
        platforms.contains(.android)
      else { continue }
      let modes = LayoutTarget.Mode.allCases.map { JSONText.quoted($0.rawValue) }
      reader.report(
        target, "Android crashes on a layout target without \"mode\"",
        "add \"mode\": \(modes.joined(separator: " or "))")
    }
  }

  /// Reports a class that is named for only one platform, because the other platform's SDK would
  /// create a collection target.
  private func checkClasses(
    _ target: JSONNode, _ platforms: [Platform], _ reader: ConfigurationReader
  ) {
    let keys = [(Platform.ios, "iOSImpl"), (.android, "androidImpl")]
    let named = keys.filter { !(target[$0.1]?.string ?? "").isEmpty }
    guard let (platform, key) = named.first, named.count == 1, let value = target[key],
      let other = keys.first(where: { $0.0 != platform }), platforms.contains(other.0),
      SyncUpTarget.kind(ofClass: value.string ?? "") != .collection
    else { return }
    reader.report(
      value,
      "this class is only for \(platform.words): \(other.0.words) sends collections instead",
      "also name the class for \(other.0.words), in \"\(other.1)\"")
  }
}

extension Platform {
  /// The platform's name in a sentence.
  fileprivate var words: String {
    switch self {
    case .ios: "iOS"
    case .android: "Android"
    }
  }
}
