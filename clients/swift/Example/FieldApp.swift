import AttacheKit
import Foundation

/// Bundles in an app; call `kit.resume()` at its start, and `sync` when it is online.
struct FieldApp {
  let kit: Attache
  let cache: URL
  /// The app's own transport: fetches a file of the user's, or returns false if there is none.
  let fetch: (_ name: String, _ file: URL) throws -> Bool
  /// Uploads a file into the pipeline's inbox.
  let upload: (URL) throws -> Void
  /// Closes the stores in the SDK: `SmartStore.removeShared(withName:)`.
  let closing: () throws -> Void
  let show: (Attache.Reason) -> Void

  func sync() throws -> Decision {
    let offer = try offer("ios.delta.\(kit.generation ?? 0).zip") ?? offer("ios.zip")
    let decision = try kit.decide(offer.map { [$0] } ?? [])
    switch decision.action {
    case .returnFirst:
      let store = try kit.prepareReturn(as: cache.appendingPathComponent("return.zip"))
      try upload(store.file)
      try kit.delivered(store)
    case .install, .delta:
      try kit.install(offer!, closing: closing)
      try kit.reasons().forEach(show)
    case .wait: break
    }
    return decision
  }

  private func offer(_ name: String) throws -> Offer? {
    let file = cache.appendingPathComponent(name)
    let signature = cache.appendingPathComponent(name + ".sig")
    guard try fetch(name, file), try fetch(name + ".sig", signature) else { return nil }
    // Without a delta that fits there is the bundle.
    return name.contains("delta") ? try? kit.verify(file) : try kit.verify(file)
  }
}
