extension Store {
  /// Registers the soups of a configuration in its order and returns the names of the new ones.
  ///
  /// An existing soup is left as it is, regardless of its indexes.
  ///
  /// All or nothing. Definitions that would crash an app, or that the two SDKs interpret
  /// differently, are rejected: an empty name, no index, an empty path, two indexes on one path,
  /// `__local__` as anything other than text.
  @discardableResult
  public func register(_ config: StoreConfig) throws(StoreError) -> [String] {
    try StoreError.mapping {
      try transaction {
        var registered: [String] = []
        for soup in config.soups {
          try Self.validate(soup.soupName, soup.indexes)
          if let spec = soup.indexes.first(where: { $0.path == SyncField.local }),
            let reason = spec.type.localFlagFault
          {
            throw StoreError.unusableIndex(
              soup: soup.soupName, path: spec.path, reason: reason)
          }
          guard try find(soup.soupName) == nil else { continue }
          try registerSoup(soup.soupName, indexSpecs: soup.indexes)
          registered.append(soup.soupName)
        }
        return registered
      }
    }
  }
}
