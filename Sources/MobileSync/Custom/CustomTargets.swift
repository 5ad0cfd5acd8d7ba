/// The custom targets of an embedding program, by class name.
///
/// ```swift
/// var targets = CustomTargets()
/// targets.add(Holidays.className, syncDown: { _ in Holidays(country: "NO") })
/// targets.add(Audit.className, syncUp: { _ in Audit() })
/// ```
public struct CustomTargets: Sendable {
  /// Creates a sync down target from its configuration, the JSON text stored in `syncs_soup`.
  public typealias SyncDownMaker = @Sendable (_ json: String) throws -> any CustomSyncDownTarget
  /// Creates a sync up target from its configuration, the JSON text stored in `syncs_soup`.
  public typealias SyncUpMaker = @Sendable (_ json: String) throws -> any CustomSyncUpTarget

  private var downs: [String: SyncDownMaker] = [:]
  private var ups: [String: SyncUpMaker] = [:]

  /// Creates an empty set of targets.
  public init() {}

  /// Registers the code for a sync down whose `androidImpl` or `iOSImpl` is this class.
  public mutating func add(_ className: String, syncDown make: @escaping SyncDownMaker) {
    downs[className] = make
  }

  /// Registers the code for a sync up whose `androidImpl` or `iOSImpl` is this class.
  public mutating func add(_ className: String, syncUp make: @escaping SyncUpMaker) {
    ups[className] = make
  }

  func syncDown(_ target: CustomTarget) throws(SyncError) -> any CustomSyncDownTarget {
    try Self.make(target, downs, "sync down")
  }

  func syncUp(_ target: CustomTarget) throws(SyncError) -> any CustomSyncUpTarget {
    try Self.make(target, ups, "sync up")
  }

  private static func make<T>(
    _ target: CustomTarget, _ makers: [String: @Sendable (String) throws -> T], _ kind: String
  ) throws(SyncError) -> T {
    let names = [target.androidImpl, target.iOSImpl].compactMap(\.self)
    guard let make = names.compactMap({ makers[$0] }).first else {
      throw SyncError(
        .definition,
        "there is no code for the custom \(kind) target \(names.joined(separator: ", "))",
        fix: "register it with the sync manager under this class name")
    }
    do {
      return try make(target.json.text)
    } catch {
      throw SyncError.custom(error)
    }
  }
}

extension SyncError {
  static func inTarget<T>(_ body: () async throws -> T) async throws(SyncError) -> T {
    do { return try await body() } catch { throw custom(error) }
  }

  /// Converts an error thrown by a custom target's code.
  static func custom(_ error: any Error) -> SyncError {
    if let error = error as? SyncError { return error }
    if error is CancellationError { return SyncError(.cancelled, "the sync was cancelled") }
    return SyncError(.target, "the custom target failed: \(error)")
  }
}
