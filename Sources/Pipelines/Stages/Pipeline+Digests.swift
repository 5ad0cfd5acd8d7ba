import Crypto
import JSON
import SmartStore

extension Pipeline {
  /// Returns the digest of the whole configuration, for the record of a run.
  package func configHash() -> String {
    Digest.sha256Hex(effectiveJSON.bytes + definitions(of: nil).bytes)
  }

  /// Returns the digest of the settings that determine what a worker makes of an order.
  func workDigest() -> String {
    Digest.sha256Hex(
      JSONValue.array([.string(name), definitions(of: nil), prime.json, report.json]).bytes)
  }

  /// Returns the digest of the settings that determine the stores of one scope.
  ///
  /// If the digest of a snapshot has changed, its soups or syncs have changed, and it is primed
  /// from scratch.
  func definitionsHash(of scope: StoreScope) -> String {
    Digest.sha256Hex(definitions(of: scope).bytes)
  }

  private func definitions(of scope: StoreScope?) -> JSONValue {
    let chosen = stores.filter { scope == nil || $0.scope == scope }
    return [
      "platforms": .array(platforms.map(\.rawValue).sorted().map { .string($0) }),
      "stores": .array(chosen.map(definition)),
      "fetchAs": .string(prime.fetchAs.rawValue),
    ]
  }

  private func definition(of store: StoreSettings) -> JSONValue {
    [
      "scope": .string(store.scope.rawValue), "storeName": .string(store.storeName),
      "soups": .array(
        store.schema.soups.map { soup in
          [
            "soupName": .string(soup.soupName),
            "indexes": .array(soup.indexes.map { [.string($0.path), .string($0.type.rawValue)] }),
          ]
        }),
      "syncs": .array(
        store.syncs.syncs.map { sync in
          [
            "syncName": .string(sync.syncName), "soupName": .string(sync.soupName),
            "target": sync.target.json, "options": sync.options.json,
          ]
        }),
      "prime": .array(store.prime.map { .string($0) }),
    ]
  }
}
