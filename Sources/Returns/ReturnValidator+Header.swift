import SmartStore
import System

extension ReturnValidator {
  /// Bytes behind the last page of a database that no program reserves.
  private static let mostSurplus: Int64 = 64 << 20

  /// Why a store in the inbox is none, as far as its header and its length tell; nil where they do not.
  ///
  /// It is asked before a large file is copied: one that is all holes would fill the disk.
  package func refusalByHeader(_ path: String, name: String) throws -> Refusal? {
    func left(_ refusal: Refusal) -> Refusal {
      Refusal(
        refusal.code, refusal.sentence + "; it stays in the inbox and was not copied",
        fix: "take it out of the inbox, or " + refusal.fix)
    }
    do {
      if !expected.unsealing.isEmpty, try SQLCipherFile.mayBeSealed(path) {
        let opens = try expected.unsealing.contains { try SQLCipherFile.opens(path, key: $0) }
        return opens ? nil : left(try wrongKey(path, name))
      }
      try checkHeader(path, name)
      let surplus = try StoreFileHeader(path: path).surplus(of: Files.size(of: path))
      guard surplus > Self.mostSurplus, Inbox.log(of: path) == nil else { return nil }
      return left(.unsound(name, "has \(surplus >> 20) MiB behind its last page"))
    } catch let refusal as Refusal {
      return left(refusal)
    }
  }
}
