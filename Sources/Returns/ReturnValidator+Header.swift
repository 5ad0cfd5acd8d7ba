import SmartStore
import System

extension ReturnValidator {
  /// The maximum number of bytes after the last page of a database, more than any program reserves.
  private static let mostSurplus: Int64 = 64 << 20

  /// Returns why a file in the inbox is not a store, as far as its header and length show; nil if
  /// they do not.
  ///
  /// Called before a large file is copied, because a sparse one could fill the disk.
  package func refusalByHeader(_ path: String, name: String) throws -> Refusal? {
    func left(_ refusal: Refusal) -> Refusal {
      Refusal(
        refusal.code, refusal.sentence + "; it stays in the inbox and was not copied",
        fix: "remove it from the inbox, or " + refusal.fix)
    }
    do {
      if !expected.unsealing.isEmpty, try SQLCipherFile.mayBeSealed(path) {
        let opens = try expected.unsealing.contains { try SQLCipherFile.opens(path, key: $0) }
        return opens ? nil : left(try wrongKey(path, name))
      }
      try checkHeader(path, name)
      let surplus = try StoreFileHeader(path: path).surplus(of: Files.size(of: path))
      guard surplus > Self.mostSurplus, Inbox.log(of: path) == nil else { return nil }
      return left(.unsound(name, "has \(surplus >> 20) MiB after its last page"))
    } catch let refusal as Refusal {
      return left(refusal)
    }
  }
}
